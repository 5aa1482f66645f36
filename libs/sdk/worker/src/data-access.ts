import type { JobRequest } from '@svc/contract';
import type { Abort } from './abort';
import { hasDataUrls, UrlData } from './data-urls';
import { DataStore, type JobData } from './store';

const DEFAULT_REDIS_URL = 'redis://localhost:6379';

/** Selects the store of a dispatch: Redis when configured, otherwise its data URLs. */
export class DataAccess {
  private store: DataStore | undefined;

  constructor(
    private readonly settings: { redisUrl?: string; resultTtlSec: number },
    private readonly onError: (error: unknown) => void,
  ) {
    if (settings.redisUrl) this.store = this.connect(settings.redisUrl);
  }

  of(request: JobRequest, abort: Pick<Abort, 'signal'>): JobData {
    const { redisUrl, resultTtlSec } = this.settings;
    if (!redisUrl && hasDataUrls(request.env)) return new UrlData(request.env, abort.signal);
    this.store ??= this.connect(DEFAULT_REDIS_URL);
    return this.store.of(request, resultTtlSec);
  }

  async close(): Promise<void> {
    await this.store?.close();
  }

  private connect(url: string): DataStore {
    return new DataStore(url, this.onError);
  }
}

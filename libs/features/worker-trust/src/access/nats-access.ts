import { readFile, rename, stat, writeFile, chmod } from 'node:fs/promises';
import { canBeNatsUser } from '@svc/contract';
import type { Bus } from '@svc/bus';
import { renderNatsAccounts } from './nats-accounts';
import type { AccessTarget } from './store-access';
import { type AccessChanges, type AccessList, countChanges } from './worker-secrets';

const DEFAULT_MODE = 0o600;
const PERMISSION_BITS = 0o777;

/**
 * Lets workers connect to NATS: keeps the file of their accounts, which nats-server includes and reloads when it changes, and
 * the consumers of their dispatches. A reload ends the connections of users that are gone or have another password. Several
 * schedulers may write the same file: each writes it as a whole, and only while it differs from the credentials.
 */
export class NatsAccess implements AccessTarget {
  readonly store = 'nats';
  private applied: AccessList | undefined;
  private fileState = '';
  /** Whether consumers may be missing. */
  private mustCheckConsumers = true;

  constructor(
    private readonly file: string,
    private readonly bus: Pick<Bus, 'ensureWorkerConsumers' | 'deleteWorkerConsumers'>,
  ) {}

  /** NATS may have lost its data. */
  reconnected(): void {
    this.mustCheckConsumers = true;
  }

  async isCurrent(): Promise<boolean> {
    return !this.mustCheckConsumers && this.fileState !== '' && this.fileState === (await this.readFileState());
  }

  async apply(workers: AccessList): Promise<AccessChanges> {
    const before = this.applied ?? new Map<string, never>();
    // First, since it is what ends connections. A worker that connects before its consumer exists tries again.
    await this.write(renderNatsAccounts(workers));
    this.applied = workers;
    this.mustCheckConsumers = true;
    const gone = [...before.keys()].filter((id) => !workers.has(id));
    await this.bus.deleteWorkerConsumers(gone);
    await this.bus.ensureWorkerConsumers([...workers.keys()].filter(canBeNatsUser));
    this.mustCheckConsumers = false;
    return countChanges(before, workers, (a, b) => a.natsHash === b.natsHash);
  }

  private async write(text: string): Promise<void> {
    const current = await readFile(this.file, 'utf8').catch(() => undefined);
    if (current !== text) {
      const mode = await stat(this.file).then(
        (found) => found.mode & PERMISSION_BITS,
        () => DEFAULT_MODE,
      );
      const draft = `${this.file}.${process.pid}`;
      await writeFile(draft, text, { mode });
      await chmod(draft, mode);
      await rename(draft, this.file);
    }
    this.fileState = await this.readFileState();
  }

  /** Changes when another process writes the file; '' while there is none. */
  private async readFileState(): Promise<string> {
    return stat(this.file).then(
      ({ ino, mtimeMs, size }) => `${ino}:${mtimeMs}:${size}`,
      () => '',
    );
  }
}

import {
  dataUrlEnv,
  type DataPurpose,
  type EffectReport,
  type EffectReportView,
  type ResourceRef,
} from '@svc/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError, RetryableError } from './errors';
import { contextMissing, parseContext, scheme, type JobData } from './store';
import type { ArtifactOptions } from './types';

const MAX_TRIES = 5;
const FIRST_PAUSE_MS = 200;
const ANSWER_TIMEOUT_MS = 30_000;
/** Statuses after which a retry may succeed. */
const transientStatuses = [408, 429, 500, 502, 503, 504];

type Env = Readonly<Record<string, string>>;

/** Whether a dispatch contains data URLs. The URL of the input is absent when the input is in another kind of store. */
export const hasDataUrls = (env: Env): boolean => Boolean(env[dataUrlEnv.result]);

/** Reads and stores the data of one dispatch through the gateway. Error messages never contain a URL, because its token is a credential. */
export class UrlData implements JobData {
  constructor(
    private readonly env: Env,
    private readonly signal: AbortSignal,
  ) {}

  async readContext(pointer: string, ref?: ResourceRef): Promise<unknown> {
    if (!pointer.startsWith(scheme)) return undefined;
    const answer = await this.send('input', 'GET');
    return parseContext(Buffer.from(await answer.arrayBuffer()), ref);
  }

  async writeResult(body: string | Uint8Array): Promise<string> {
    const answer = await this.send('result', 'PUT', Buffer.from(body));
    return pointerIn(answer, 'result_ptr');
  }

  async writeArtifact(bytes: Uint8Array, { contentType, retention, labels }: ArtifactOptions): Promise<string> {
    const answer = await this.send('artifact', 'POST', Buffer.from(bytes), {
      ...(contentType && { content_type: contentType }),
      ...(retention && { retention }),
      ...(labels && { labels: JSON.stringify(labels) }),
    });
    return pointerIn(answer, 'artifact_ptr');
  }

  /** Records the intent or the result of an effect. @throws as `send` */
  async reportEffect(report: EffectReport): Promise<EffectReportView> {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await this.send('effect', 'POST', Buffer.from(JSON.stringify(report)), {}, headers);
    return (await answer.json()) as EffectReportView;
  }

  /** @throws FatalError, RetryableError; the signal's reason when the job was aborted */
  private async send(
    purpose: DataPurpose,
    method: string,
    body?: Buffer,
    query: Env = {},
    headers: Env = body ? { 'Content-Type': 'application/octet-stream' } : {},
  ): Promise<Response> {
    const url = this.getUrl(purpose, query);
    for (let tries = 1; ; tries += 1) {
      this.signal.throwIfAborted();
      const answer = await this.request(url, method, headers, body);
      if (answer.ok) return answer;
      const isTransient = transientStatuses.includes(answer.status);
      if (!isTransient || tries === MAX_TRIES) throw await toError(answer, isTransient);
      await answer.body?.cancel();
      await sleep(FIRST_PAUSE_MS * 2 ** (tries - 1), undefined, { signal: this.signal });
    }
  }

  private getUrl(purpose: DataPurpose, query: Env): URL {
    const text = this.env[dataUrlEnv[purpose]] ?? '';
    if (!URL.canParse(text)) {
      throw new RetryableError(`${dataUrlEnv[purpose]} of this dispatch is no URL`, { code: 'data_url_missing' });
    }
    const url = new URL(text);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  private async request(url: URL, method: string, headers: Env, body: Buffer | undefined): Promise<Response> {
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]);
    try {
      // A redirect would leak the token.
      return await fetch(url, { method, headers, signal, redirect: 'error', ...(body && { body }) });
    } catch (cause) {
      this.signal.throwIfAborted();
      return new Response(null, { status: 503, statusText: cause instanceof Error ? cause.message : '' });
    }
  }
}

async function toError(answer: Response, isTransient: boolean): Promise<Error> {
  const { code, error } = (await answer.json().catch(() => ({}))) as { code?: string; error?: string };
  if (code === 'input_not_found') return contextMissing();
  const why = error ?? (answer.statusText || `status ${answer.status}`);
  if (isTransient) return new RetryableError(`the gateway did not answer: ${why}`, { code: 'store_unavailable' });
  const message = `the gateway refused the data of this job: ${why}`;
  // A retry cannot fix a body that is too large.
  return answer.status === 413
    ? new FatalError(message, { code: code ?? 'request_too_large' })
    : new RetryableError(message, { code: code ?? 'data_url_refused' });
}

async function pointerIn(answer: Response, field: string): Promise<string> {
  const pointer = ((await answer.json()) as Record<string, unknown>)[field];
  if (typeof pointer === 'string' && pointer !== '') return pointer;
  throw new RetryableError('the gateway answered without a pointer', { code: 'data_url_refused' });
}

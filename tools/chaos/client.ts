import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from './history';

export interface ClientOptions {
  baseUrl: string;
  apiKey: string;
  /** All calls of this client with their outcomes. */
  journal: Call[];
  /** Time limit of one request; after it the outcome is unknown. */
  timeoutMs?: number;
}

export interface Answered {
  status: number;
  body: Record<string, unknown>;
}

export interface SubmitWish {
  topic: string;
  key: string;
  prompt?: string;
  /** Agent that submits the job. */
  agentId?: string;
}

/** Delay before the first retry; doubled each time. */
const firstPauseMs = 50;
const longestPauseMs = 2_000;

/**
 * A client with a journal. Retries calls without a response or with a temporary error until the outcome is known, like a
 * client that must not lose work.
 */
export class JournalClient {
  constructor(private readonly options: ClientOptions) {}

  /**
   * @returns the id of the job
   * @throws Error with the error response
   */
  async submit({ topic, key, prompt = 'unload berth 7', agentId }: SubmitWish, patienceMs?: number): Promise<string> {
    const headers = { 'Idempotency-Key': key, ...(agentId !== undefined && { 'X-Agent-Id': agentId }) };
    const send = () => this.send('POST', '/api/v1/jobs', { topic, prompt, estimated_cost: 0.01 }, headers);
    const call = { act: 'submit', jobId: '', key, body: `${topic} ${prompt}` } as const;
    const { body } = await this.insist(send, ({ body }) => ({ ...call, jobId: text(body['job_id']) }), patienceMs);
    const jobId = text(body['job_id']);
    if (jobId === '') throw new Error(`the submission was rejected: ${JSON.stringify(body)}`);
    return jobId;
  }

  /** Registers an agent that may run every job. @returns its id */
  async registerAgent(name: string): Promise<string> {
    const agent = { name, owner: 'chaos', risk_tier: 'low', allowed_topics: ['*'], allowed_pools: ['*'] };
    const { body } = await this.insist(
      () => this.send('POST', '/api/v1/agents', agent),
      () => ({ act: 'agent', jobId: '' }),
    );
    return text(body['id']);
  }

  /** Suspends an agent, which cancels its job. */
  stopAgent(id: string, jobId: string): Promise<Answered> {
    const send = () => this.send('PUT', `/api/v1/agents/${id}`, { status: 'suspended' });
    return this.insist(send, () => ({ act: 'cancel', jobId }));
  }

  cancel(jobId: string): Promise<Answered> {
    const send = () => this.send('POST', `/api/v1/jobs/${jobId}/cancel`, {});
    return this.insist(send, ({ body }) => ({ act: 'cancel', jobId, repeated: body['reason'] !== undefined }));
  }

  decide(act: 'approve' | 'reject', jobId: string): Promise<Answered> {
    const send = () => this.send('POST', `/api/v1/approvals/${jobId}/${act}`, { reason: 'chaos' });
    return this.insist(send, ({ body }) => ({ act, jobId, repeated: body['status'] !== undefined }));
  }

  /** @returns the id of the new job; '' when the dead letter no longer exists */
  async retry(jobId: string): Promise<string> {
    const send = () => this.send('POST', `/api/v1/dlq/${jobId}/retry`, {});
    const { body } = await this.insist(send, ({ body }) => {
      const newJobId = text(body['job_id']);
      return { act: 'retry', jobId, ...(newJobId && { newJobId }) };
    });
    return text(body['job_id']);
  }

  /** Job state according to the gateway; undefined when it does not respond or the job does not exist. */
  async state(jobId: string): Promise<string | undefined> {
    const { status, body } = await this.send('GET', `/api/v1/jobs/${jobId}`);
    return status === 200 ? text(body['state']) : undefined;
  }

  /** @throws Error with the error response */
  async putWorkflow(definition: { id: string; name: string; steps: object }): Promise<void> {
    const { status, body } = await this.send('POST', '/api/v1/workflows', definition);
    if (status !== 201) throw new Error(`${definition.id} was rejected: ${status} ${JSON.stringify(body)}`);
  }

  /**
   * @returns the id of the run
   * @throws Error with the error response
   */
  async startRun(workflow: string, key: string, input: object = {}, patienceMs?: number): Promise<string> {
    const send = () => this.send('POST', `/api/v1/workflows/${workflow}/runs`, input, { 'Idempotency-Key': key });
    const call = { act: 'start-run', jobId: '', key, body: `${workflow} ${JSON.stringify(input)}` } as const;
    const { body } = await this.insist(send, ({ body }) => ({ ...call, runId: text(body['run_id']) }), patienceMs);
    const runId = text(body['run_id']);
    if (runId === '') throw new Error(`the start was rejected: ${JSON.stringify(body)}`);
    return runId;
  }

  cancelRun(workflow: string, runId: string, how: { compensate?: boolean } = {}): Promise<Answered> {
    const query = how.compensate ? '?compensate=true' : '';
    const send = () => this.send('POST', `/api/v1/workflows/${workflow}/runs/${runId}/cancel${query}`);
    return this.insist(send, () => ({ act: 'cancel-run', jobId: '', runId }));
  }

  /** A rerun has no idempotency key, so a retry after a lost response may create two. @returns the new run */
  async rerun(runId: string, fromStep: string): Promise<string> {
    const send = () => this.send('POST', `/api/v1/workflow-runs/${runId}/rerun`, { from_step: fromStep });
    const { body } = await this.insist(send, ({ body }) => {
      const newRunId = text(body['run_id']);
      return { act: 'rerun', jobId: '', runId, ...(newRunId && { newRunId }) };
    });
    return text(body['run_id']);
  }

  signal(runId: string, name: string, id: string): Promise<Answered> {
    const message = { signal_id: id, payload: { by: 'chaos' } };
    const send = () => this.send('POST', `/api/v1/workflow-runs/${runId}/signals/${name}`, message);
    return this.insist(send, () => ({ act: 'signal', jobId: '', runId }));
  }

  /** A repetition after a lost response is refused, because the pool drains already. */
  drainPool(name: string, timeout_seconds = 300): Promise<Answered> {
    const send = () => this.send('POST', `/api/v1/pools/${name}/drain`, { timeout_seconds });
    return this.insist(send, () => ({ act: 'pool', jobId: '' }));
  }

  activatePool(name: string): Promise<Answered> {
    const send = () => this.send('PATCH', `/api/v1/pools/${name}`, { status: 'active' });
    return this.insist(send, () => ({ act: 'pool', jobId: '' }));
  }

  /** Creates or replaces the credential of a worker. @returns its token, '' without a response */
  async writeCredential(worker_id: string, pool: string, public_keys: readonly string[]): Promise<string> {
    const credential = { worker_id, allowed_pools: [pool], public_keys };
    const send = () => this.send('POST', '/api/v1/workers/credentials', credential);
    const { body } = await this.insist(send, () => ({ act: 'credential', jobId: '' }));
    return text(body['token']);
  }

  revokeCredential(workerId: string): Promise<Answered> {
    const send = () => this.send('DELETE', `/api/v1/workers/credentials/${workerId}`);
    return this.insist(send, () => ({ act: 'credential', jobId: '' }));
  }

  /** Status of a pool according to the gateway. */
  async poolStatus(name: string): Promise<string | undefined> {
    const { status, body } = await this.send('GET', `/api/v1/pools/${name}`);
    return status === 200 ? text(body['status']) : undefined;
  }

  /** Run status according to the gateway; undefined when it does not respond or the run does not exist. */
  async runStatus(runId: string): Promise<string | undefined> {
    const { status, body } = await this.send('GET', `/api/v1/workflow-runs/${runId}`);
    return status === 200 ? text(body['status']) : undefined;
  }

  /** One request that is not recorded in the journal. */
  ask(method: string, path: string): Promise<Answered> {
    return this.send(method, path);
  }

  private async insist(
    send: () => Promise<Answered>,
    describe: (answered: Answered) => Pick<Call, 'act' | 'jobId'> & Partial<Call>,
    patienceMs = 60_000,
  ): Promise<Answered> {
    const endMs = Date.now() + patienceMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, 2 * pauseMs)) {
      const answered = await send();
      const outcome = toOutcome(answered.status);
      this.options.journal.push({
        ...describe(answered),
        outcome,
        status: answered.status,
        code: text(answered.body['code'] ?? answered.body['error_code']),
      });
      if (outcome !== 'unknown' || Date.now() > endMs) return answered;
      await sleep(pauseMs);
    }
  }

  /** Status 0 without a response. */
  private async send(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const { baseUrl, apiKey, timeoutMs = 5_000 } = this.options;
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json', ...headers },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body && { body: JSON.stringify(body) }),
      });
      const answered = await response.text();
      return { status: response.status, body: answered === '' ? {} : (JSON.parse(answered) as Answered['body']) };
    } catch {
      return { status: 0, body: {} }; // disconnected, refused or timed out: unknown whether it took effect
    }
  }
}

/** Temporary responses, which do not decide the outcome of the call: too many requests, or unavailable. */
function toOutcome(status: number): Call['outcome'] {
  if (status >= 200 && status < 300) return 'ok';
  return status === 0 || status === 429 || status >= 500 ? 'unknown' : 'refused';
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from './history';

export interface ClientOptions {
  baseUrl: string;
  apiKey: string;
  /** Everything this client asked and was told. */
  journal: Call[];
  /** How long one call may take before it counts as unanswered. */
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
}

/** Between two tries; twice as long each time. */
const firstPauseMs = 50;
const longestPauseMs = 2_000;

/**
 * A client who keeps a journal. His calls repeat what was not answered, or answered "not now", until the answer says what
 * became of it: as anybody would who must know.
 */
export class JournalClient {
  constructor(private readonly options: ClientOptions) {}

  /**
   * @returns the id of the job
   * @throws Error with the refusal
   */
  async submit({ topic, key, prompt = 'unload berth 7' }: SubmitWish, patienceMs?: number): Promise<string> {
    const send = () =>
      this.send('POST', '/api/v1/jobs', { topic, prompt, estimated_cost: 0.01 }, { 'Idempotency-Key': key });
    const call = { act: 'submit', jobId: '', key, body: `${topic} ${prompt}` } as const;
    const { body } = await this.insist(send, ({ body }) => ({ ...call, jobId: text(body['job_id']) }), patienceMs);
    const jobId = text(body['job_id']);
    if (jobId === '') throw new Error(`the submission was refused: ${JSON.stringify(body)}`);
    return jobId;
  }

  cancel(jobId: string): Promise<Answered> {
    const send = () => this.send('POST', `/api/v1/jobs/${jobId}/cancel`, {});
    return this.insist(send, ({ body }) => ({ act: 'cancel', jobId, repeated: body['reason'] !== undefined }));
  }

  decide(act: 'approve' | 'reject', jobId: string): Promise<Answered> {
    const send = () => this.send('POST', `/api/v1/approvals/${jobId}/${act}`, { reason: 'chaos' });
    return this.insist(send, ({ body }) => ({ act, jobId, repeated: body['status'] !== undefined }));
  }

  /** @returns the id of the new job; '' when there is no dead letter any more */
  async retry(jobId: string): Promise<string> {
    const send = () => this.send('POST', `/api/v1/dlq/${jobId}/retry`, {});
    const { body } = await this.insist(send, ({ body }) => {
      const newJobId = text(body['job_id']);
      return { act: 'retry', jobId, ...(newJobId && { newJobId }) };
    });
    return text(body['job_id']);
  }

  /** The state the gateway shows; undefined when it does not answer or knows no such job. */
  async state(jobId: string): Promise<string | undefined> {
    const { status, body } = await this.send('GET', `/api/v1/jobs/${jobId}`);
    return status === 200 ? text(body['state']) : undefined;
  }

  /** @throws Error with the refusal */
  async putWorkflow(definition: { id: string; name: string; steps: object }): Promise<void> {
    const { status, body } = await this.send('POST', '/api/v1/workflows', definition);
    if (status !== 201) throw new Error(`${definition.id} was refused: ${status} ${JSON.stringify(body)}`);
  }

  /**
   * @returns the id of the run
   * @throws Error with the refusal
   */
  async startRun(workflow: string, key: string, input: object = {}, patienceMs?: number): Promise<string> {
    const send = () => this.send('POST', `/api/v1/workflows/${workflow}/runs`, input, { 'Idempotency-Key': key });
    const call = { act: 'start-run', jobId: '', key, body: `${workflow} ${JSON.stringify(input)}` } as const;
    const { body } = await this.insist(send, ({ body }) => ({ ...call, runId: text(body['run_id']) }), patienceMs);
    const runId = text(body['run_id']);
    if (runId === '') throw new Error(`the start was refused: ${JSON.stringify(body)}`);
    return runId;
  }

  cancelRun(workflow: string, runId: string, how: { compensate?: boolean } = {}): Promise<Answered> {
    const query = how.compensate ? '?compensate=true' : '';
    const send = () => this.send('POST', `/api/v1/workflows/${workflow}/runs/${runId}/cancel${query}`);
    return this.insist(send, () => ({ act: 'cancel-run', jobId: '', runId }));
  }

  /** A rerun has no key, so one whose answer was lost is asked for again and may come twice. @returns the new run */
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

  /** The status the gateway shows; undefined when it does not answer or knows no such run. */
  async runStatus(runId: string): Promise<string | undefined> {
    const { status, body } = await this.send('GET', `/api/v1/workflow-runs/${runId}`);
    return status === 200 ? text(body['status']) : undefined;
  }

  /** One request without a note in the journal. */
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
      const outcome = outcomeOf(answered.status);
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

  /** Status 0 when no answer came. */
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
      return { status: 0, body: {} }; // cut, refused, or too late: nobody knows whether it was done
    }
  }
}

/** Too many requests, and anything that may be otherwise in a moment, says nothing about the call itself. */
function outcomeOf(status: number): Call['outcome'] {
  if (status >= 200 && status < 300) return 'ok';
  return status === 0 || status === 429 || status >= 500 ? 'unknown' : 'refused';
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

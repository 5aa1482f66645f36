import {
  bootIdLabel,
  inlineDataLabel,
  maxInlineBytes,
  type JobRequest,
  type JobResultDraft,
  subjects,
} from '@svc/contract';
import { blankTicket } from '@svc/identity';
import { eventually } from '@svc/testing';
import { createHash } from 'node:crypto';
import type { RawWorkerPlan } from './raw-worker.testing';
import type { SchedulerPlan } from './scheduler.testing';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const key = 'K4-result-ticket-key-of-these-tests-8sQ1';
const env = { resultTicketKeys: [key] };
const secret = 'AKIA' + 'IOSFODNN7REALKEY';
const quickRetries = { retry: { initial_backoff: '10ms', max_backoff: '20ms', max_retries: 2 } };
const outputPolicy = (decision: string, more = 'severity: high') => `
version: '1'
default_decision: allow
output_policy: { enabled: true, fail_mode: closed }
output_rules:
  - { id: the-rule, ${more}, match: { scanners: [secret] }, decision: ${decision}, reason: because }
`;

type StartPlan = SchedulerPlan & { policy?: string; config?: object };
const start = (plan: StartPlan = {}) => use.start({ ...plan, env: { ...env, ...plan.env } });
const inlineWorker = (plan: Partial<RawWorkerPlan> = {}) =>
  use.rawWorker({ id: 'w1', max: 5, labels: { [inlineDataLabel]: 'true' }, ...plan });
const withBody = ({ result_ticket }: JobRequest, body: string | Buffer, over: JobResultDraft = {}): JobResultDraft => ({
  inline_result: Buffer.from(body),
  result_ticket,
  ...over,
});
const stored = async (id: string) => (await use.store.data.result(id))?.toString();

/** A job that has been dispatched to a worker that supports inline data. */
async function dispatched(plan: StartPlan = {}) {
  const scheduler = await start(plan);
  const worker = await inlineWorker();
  const id = await use.submit();
  return { scheduler, worker, id, request: await worker.dispatched(id) };
}

describe('a dispatch to a worker that supports inline data', () => {
  const document = (id: string) => use.redis.getBuffer(`ctx:${id}`);

  it('contains the input, which stays in the store, and a blank ticket, since its scheduler keeps the record', async () => {
    const { id, request } = await dispatched();

    expect(Buffer.from(request.inline_input)).toEqual(await document(id));
    expect(request).toMatchObject({ context_ptr: `redis://ctx:${id}` });
    expect(Buffer.from(request.result_ticket)).toEqual(blankTicket);
  });

  it('contains the input byte for byte when the job was claimed from its lane', async () => {
    await start();
    const [text, bytes] = ['{"text":"é\u2028"}', Buffer.from([0x7b, 0xff, 0xc3, 0x28, 0x7d])];
    const ids = [await use.submit(), await use.submit(), await use.submit()];
    for (const id of ids) await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await use.redis.set(`ctx:${ids[0]}`, text);
    await use.redis.set(`ctx:${ids[1]}`, bytes);

    const worker = await inlineWorker();

    for (const id of ids) {
      expect(Buffer.from((await worker.dispatched(id)).inline_input)).toEqual(await document(id));
    }
  });

  it('contains the input and a ticket that shows nothing when it is dispatched at submission', async () => {
    await start({ idle: true });
    const worker = await inlineWorker();
    const gateway = await use.gateway();
    await gateway.knows('w1');

    const id = await use.place(gateway.placement);

    const request = await worker.dispatched(id);
    expect(Buffer.from(request.inline_input)).toEqual(await document(id));
    expect(request.result_ticket.length).toBeGreaterThan(100);
    expect(Buffer.from(request.result_ticket).toString('latin1')).not.toMatch(/acme|job\.work|ann/);
  });

  it('contains no input above the limit', async () => {
    await start();
    const worker = await inlineWorker();

    const id = await use.submit({ context: { text: 'x'.repeat(maxInlineBytes) } });

    const request = await worker.dispatched(id);
    expect([request.inline_input.length, request.result_ticket.length > 0]).toEqual([0, true]);
  });

  it('contains no ticket whose facts exceed its limit', async () => {
    await start({ idle: true });
    const worker = await inlineWorker();
    const gateway = await use.gateway();
    await gateway.knows('w1');
    const labels = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`label-${n}`, 'x'.repeat(500)]));

    const request = await worker.dispatched(await use.place(gateway.placement, { labels }));

    expect([request.inline_input.length > 0, request.result_ticket.length]).toEqual([true, 0]);
  });
});

describe('a dispatch without inline data', () => {
  const isPlain = (request: JobRequest) =>
    expect([request.inline_input.length, request.result_ticket.length]).toEqual([0, 0]);

  it('is sent to a worker that does not announce it, whose stored result counts as before', async () => {
    await start();
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    await use.redis.set(`res:${id}`, '{"kept":1}');

    await worker.answer(request, 'SUCCEEDED', { result_ptr: `redis://res:${id}` });

    isPlain(request);
    await use.until(id, 'SUCCEEDED', { result_ptr: `redis://res:${id}` });
    expect(await stored(id)).toBe('{"kept":1}');
  });

  it('is sent without keys', async () => {
    await use.start();
    const worker = await inlineWorker();

    isPlain(await worker.dispatched(await use.submit()));
  });

  it('is sent to a worker that restarted without announcing it; the job of its earlier process is retried', async () => {
    const { ctx } = await start({ config: quickRetries });
    const able = await inlineWorker({ labels: { [inlineDataLabel]: 'true', [bootIdLabel]: 'boot-1' } });
    const id = await use.submit();
    await able.dispatched(id);
    // A heartbeat after the dispatch, from which the restart is known to have lost the job.
    await eventually(() => expect(ctx.registry.reportsJobs('w1')).toBe(true));
    await able.stop();

    const plain = await use.rawWorker({ id: 'w1', max: 5, labels: { [bootIdLabel]: 'boot-2' } });
    await eventually(() => expect(ctx.registry.announces('w1', inlineDataLabel, Date.now())).toBe(false));

    const retried = await plain.dispatched(id);
    expect(retried.dispatch?.attempt).toBe(2);
    isPlain(retried);
    isPlain(await plain.dispatched(await use.submit()));
  });
});

describe('a result with its body', () => {
  it('is stored by the call that ends the job', async () => {
    const { worker, id, request } = await dispatched();

    await worker.answer(request, 'SUCCEEDED', withBody(request, '{"answer":42}'));

    await use.until(id, 'SUCCEEDED', { result_ptr: `redis://res:${id}`, execution_ms: 5 });
    expect(await stored(id)).toBe('{"answer":42}');
    expect(await use.redis.ttl(`res:${id}`)).toBeGreaterThan(0);
  });

  it('is bytes, up to the limit', async () => {
    const { worker, id, request } = await dispatched();
    const bytes = Buffer.alloc(maxInlineBytes, 0xfe);

    await worker.answer(request, 'SUCCEEDED', withBody(request, bytes, { result_ptr: `redis://res:${id}` }));

    await use.until(id, 'SUCCEEDED');
    expect(await use.store.data.result(id)).toEqual(bytes);
  });

  it('of a worker of the SDK without access to the store', async () => {
    await start();
    await use.worker({ id: 'w1', redisUrl: '' });

    const id = await use.submit();

    await use.until(id, 'SUCCEEDED', { result_ptr: `redis://res:${id}` });
    expect(await stored(id)).toBe('{"echo":"hello"}');
  });

  it.each([
    [
      'above the limit',
      Buffer.alloc(maxInlineBytes + 1),
      '',
      'inline_result has 65537 bytes, at most 65536 are accepted',
    ],
    [
      'beside a part',
      Buffer.from('1'),
      ':part',
      'result_ptr must be empty or redis://res:<job id> in a result with inline_result',
    ],
  ])('%s fails the job without a retry, and is not stored', async (_, body, part, error_message) => {
    const { worker, id, request } = await dispatched({ config: quickRetries });
    const pointer = part && `redis://res:${id}${part}`;

    await worker.answer(request, 'SUCCEEDED', withBody(request, body, { result_ptr: pointer }));

    const job = await use.until(id, 'FAILED', { error_code: 'inline_result_invalid', error_message, attempts: 1 });
    expect(job.result_ptr).toBeUndefined();
    expect(await stored(id)).toBeUndefined();
  });

  it('is ignored in a failure', async () => {
    const { worker, id, request } = await dispatched();

    await worker.answer(request, 'FAILED_FATAL', withBody(request, 'body'));

    expect((await use.until(id, 'FAILED')).result_ptr).toBeUndefined();
    expect(await stored(id)).toBeUndefined();
  });

  it('is compared with its reference', async () => {
    const { worker, id, request } = await dispatched();
    const other = await use.submit();
    const sha256 = (text: string) => createHash('sha256').update(text).digest();
    const answer = (one: JobRequest, body: string) =>
      worker.answer(one, 'SUCCEEDED', withBody(one, body, { result_ref: { sha256: sha256('good'), size_bytes: 4 } }));

    await answer(request, 'good');
    await answer(await worker.dispatched(other), 'evil');

    await use.until(id, 'SUCCEEDED');
    await use.until(other, 'FAILED', { error_code: 'integrity_check_failed' });
    expect([await stored(id), await stored(other)]).toEqual(['good', undefined]);
  });

  it('does not reach stream clients, events or logs of the bus unscanned', async () => {
    const { worker, id, request } = await dispatched({ policy: outputPolicy('quarantine') });

    await worker.answer(request, 'SUCCEEDED', withBody(request, `the key is ${secret}`));

    await use.until(id, 'OUTPUT_QUARANTINED');
    const others = use.packets.filter(({ subject }) => subject !== subjects.jobResult.name);
    expect(JSON.stringify(others)).not.toContain(secret);
  });
});

describe('the output policy of a result with its body', () => {
  it.each([
    ['before its release when the rule holds it', 'hold: true, severity: critical', 'output_quarantined'],
    ['after its release', 'severity: high', 'output_quarantined_async'],
  ])('quarantines it %s; it stays in the store for an admin', async (_, more, error_code) => {
    const { worker, id, request } = await dispatched({ policy: outputPolicy('quarantine', more) });

    await worker.answer(request, 'SUCCEEDED', withBody(request, `the key is ${secret}`));

    const job = await use.until(id, 'OUTPUT_QUARANTINED', { error_code });
    expect(job.output_safety).toMatchObject({ decision: 'QUARANTINE', original_ptr: `redis://res:${id}` });
    expect(JSON.stringify(job)).not.toContain(secret);
    expect(await stored(id)).toContain(secret);
  });

  it.each(['hold: true, severity: critical', 'severity: high'])('redacts it (%s)', async (more) => {
    const { worker, id, request } = await dispatched({ policy: outputPolicy('redact', more) });

    await worker.answer(request, 'SUCCEEDED', withBody(request, `the key is ${secret}, keep it`));

    const job = await eventually(async () => {
      const found = await use.job(id);
      expect(found.output_safety).toMatchObject({ decision: 'REDACT' });
      return found;
    });
    expect(job.output_safety?.original_ptr).toBe(`redis://res:${id}`);
    const clean = await use.store.data.read(job.result_ptr ?? '', 1_000);
    expect(String(clean?.body)).toBe('the key is [REDACTED], keep it');
    expect(await stored(id)).toContain(secret);
  });

  it('releases a clean one', async () => {
    const { worker, id, request } = await dispatched({ policy: outputPolicy('quarantine') });

    await worker.answer(request, 'SUCCEEDED', withBody(request, 'harmless'));

    const job = await use.until(id, 'SUCCEEDED');
    expect(job.output_safety).toMatchObject({ decision: 'ALLOW', phase: 'async', scanned_bytes: 8 });
  });
});

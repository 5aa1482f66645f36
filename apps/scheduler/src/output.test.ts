import { JobStatus, subjects } from '@svc/contract';
import type { OutputVerdict } from '@svc/kernel-client';
import { scanOutput } from '@svc/output-safety';
import { eventually } from '@svc/testing';
import { FatalError } from '@svc/worker-sdk';
import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();
const secret = 'AKIA' + 'IOSFODNN7REALKEY';

const policy = (rules: string, failMode = 'closed') => `
version: '1'
default_decision: allow
output_policy: { enabled: true, fail_mode: ${failMode} }
output_rules:
${rules}
`;
const rule = (match: string, decision: string, severity = 'high', more = '') =>
  `  - { id: the-rule, ${more}severity: ${severity}, match: ${match}, decision: ${decision}, reason: because }`;

/** The finding of a kernel whose scanner failed under fail mode open. */
const skipped: OutputVerdict['findings'][number] = {
  type: 'scan_skipped',
  severity: 'low',
  confidence: 1,
  detail: '',
  scanner: '',
  matched_pattern: '',
};

/** A worker that returns this text. */
const returning = (text: string) => use.worker({ id: 'w1', topics: { 'job.>': () => new TextEncoder().encode(text) } });
const named = (events: readonly (readonly unknown[])[], name: string) => events.filter(([called]) => called === name);

describe('the check before a result is released', () => {
  it('quarantines by size; the result is withheld and not lost', async () => {
    await use.start({ policy: policy(rule('{ output_size_gt: 10 }', 'quarantine')) });
    await returning('more than ten bytes');

    const id = await use.submit();

    const job = await use.until(id, 'OUTPUT_QUARANTINED', { error_code: 'output_quarantined', last_state: 'RUNNING' });
    expect(job.output_safety).toMatchObject({
      decision: 'QUARANTINE',
      phase: 'sync',
      rule_id: 'the-rule',
      original_ptr: `redis://res:${id}`,
    });
    expect(await use.path(id)).not.toContain('SUCCEEDED');
    expect(await use.deadLetter(id)).toMatchObject({
      reason_code: 'output_quarantined',
      reason: 'output_quarantined',
      status: 'JOB_STATUS_DENIED',
    });
    expect(await use.published('job_result', subjects.jobDlq.name, id)).toMatchObject([
      { status: JobStatus.JOB_STATUS_DENIED },
    ]);
    expect(String(await use.store.data.result(id))).toBe('more than ten bytes');
  });

  it('quarantines a success whose error text contains a secret', async () => {
    await use.start({ policy: policy(rule('{ has_error: true, scanners: [secret] }', 'quarantine')) });
    await use.rawAnswering('SUCCEEDED', { error_message: `tried with ${secret}` });

    const id = await use.submit();

    const job = await use.until(id, 'OUTPUT_QUARANTINED', { error_code: 'output_quarantined' });
    expect(JSON.stringify(job)).not.toContain(secret);
  });

  it('releases, marks and counts a result when the kernel is unavailable, and scans it afterwards', async () => {
    const { events, metrics } = await use.start({ policy: policy(rule('{ scanners: [secret] }', 'quarantine')) });
    await returning('harmless');
    use.broken.add('checkOutput');

    const id = await use.submit();

    const job = await use.until(id, 'SUCCEEDED');
    expect(job.output_safety).toMatchObject({ decision: 'ALLOW', phase: 'sync', skipped: true });
    await eventually(() => expect(named(events, 'outputSkipped')).toHaveLength(2));
    expect(await metrics()).toMatch(/^svc_scheduler_output_policy_skipped_total\{.*\} 2$/m);
  });

  it('is skipped when it is disabled', async () => {
    const env = { outputPolicyEnabled: false };
    await use.start({ policy: policy(rule('{ output_size_gt: 1 }', 'quarantine')), env });
    await returning('more than one byte');

    const job = await use.until(await use.submit(), 'SUCCEEDED');

    expect(job.output_safety).toBeUndefined();
  });
});

describe('the scan of the content of a result', () => {
  it('quarantines a success after its release, with a dead letter of its own code', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'quarantine', 'critical')) });
    await returning(`the key is ${secret}`);

    const id = await use.submit();

    const job = await use.until(id, 'OUTPUT_QUARANTINED', {
      error_code: 'output_quarantined_async',
      last_state: 'SUCCEEDED',
    });
    expect(job.output_safety).toMatchObject({ decision: 'QUARANTINE', phase: 'async', truncated: false });
    expect(job.output_safety?.findings).not.toEqual([]);
    expect(JSON.stringify(job)).not.toContain(secret);
    expect(await use.path(id)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'SUCCEEDED', 'OUTPUT_QUARANTINED']);
    expect(await use.deadLetter(id)).toMatchObject({
      reason_code: 'output_quarantined_async',
      reason: 'output_quarantined_async',
    });
  });

  it('waits for a body that is visible only after the answer of its worker', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'quarantine', 'critical')) });
    const worker = await use.rawWorker({ id: 'w1' });

    // It waits half a second at most; on a busy machine it may take another attempt.
    await eventually(
      async () => {
        const id = await use.submit();
        await worker.answer(await worker.dispatched(id), 'SUCCEEDED', { result_ptr: `redis://res:${id}` });
        await use.until(id, 'SUCCEEDED');
        await use.redis.set(`res:${id}`, `the key is ${secret}`);
        await eventually(async () => expect((await use.job(id)).output_safety).toMatchObject({ phase: 'async' }));
        expect(await use.job(id)).toMatchObject({
          state: 'OUTPUT_QUARANTINED',
          error_code: 'output_quarantined_async',
        });
      },
      { withinMs: 20_000 },
    );
  });

  it('redacts: the pointer leads to a clean copy, the original is kept with the decision', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'redact')) });
    await returning(`the key is ${secret}, keep it`);

    const id = await use.submit();

    const job = await eventually(async () => {
      const found = await use.job(id);
      expect(found.output_safety).toMatchObject({ decision: 'REDACT', phase: 'async' });
      return found;
    });
    expect(job).toMatchObject({ state: 'SUCCEEDED', result_ptr: job.output_safety?.redacted_ptr });
    expect(job.result_ptr).toMatch(new RegExp(`^redis://res:${id}:redacted:[0-9a-f]{16}$`));
    expect(job.output_safety?.original_ptr).toBe(`redis://res:${id}`);
    const clean = await use.store.data.read(job.result_ptr ?? '', 1_000);
    expect(String(clean?.body)).toBe('the key is [REDACTED], keep it');
    expect(String(await use.store.data.result(id))).toContain(secret);
  });

  it('scans the copy too, and removes findings whose excluding context was removed', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret, injection] }', 'redact')) });
    // A union after a SELECT is no finding; redacting the unterminated key removes that SELECT.
    await returning('-----BEGIN PRIVATE KEY----- select pg_sleep(5) union\nselect 1');

    const id = await use.submit();

    const job = await eventually(async () => {
      const found = await use.job(id);
      expect(found.output_safety).toMatchObject({ decision: 'REDACT', phase: 'async' });
      return found;
    });
    const clean = await use.store.data.read(job.result_ptr ?? '', 1_000);
    expect(String(clean?.body)).toBe('[REDACTED]5) [REDACTED] 1');
  });

  it('lists everything removed from the copy, with its position in the body', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret, injection] }', 'redact')) });
    const text = '-----BEGIN PRIVATE KEY----- select pg_sleep(5) union\nselect 1';
    await returning(text);

    const id = await use.submit();

    const job = await eventually(async () => {
      const found = await use.job(id);
      expect(found.output_safety).toMatchObject({ decision: 'REDACT', phase: 'async' });
      return found;
    });
    const findings = (job.output_safety?.findings ?? []) as { offset: number; length: number }[];
    const removed = findings.map(({ offset, length }) => text.slice(offset, offset + length));
    expect(removed).toEqual(expect.arrayContaining([expect.stringContaining('PRIVATE KEY'), 'union\nselect']));
  });

  it.each([
    ['the kernel is unavailable', () => Promise.reject(new Error('away'))],
    ['its scanner failed', (allowed: OutputVerdict) => Promise.resolve({ ...allowed, findings: [skipped] })],
  ])('withholds a result to be redacted when its copy cannot be scanned, in every fail mode: %s', async (_, ofCopy) => {
    const secrets = policy(rule('{ scanners: [secret] }', 'redact'), 'open');
    const { ctx } = await use.start({ policy: secrets, env: { outputPolicyFailMode: 'open' } });
    const { checkOutput } = ctx.kernel;
    jest.spyOn(ctx.kernel, 'checkOutput').mockImplementation(async (asked) => {
      const verdict = await checkOutput.call(ctx.kernel, asked);
      return String(asked.output_content ?? '').includes('[REDACTED]') ? ofCopy(verdict) : verdict;
    });
    await returning(`the key is ${secret}`);

    const id = await use.submit();

    const job = await use.until(id, 'OUTPUT_QUARANTINED', { error_code: 'output_quarantined_async' });
    expect(job.output_safety).toMatchObject({ decision: 'QUARANTINE', reason: 'redaction could not be made' });
  });

  it('scans a long result completely, across the boundaries of its windows', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'redact')) });
    const before = 'x'.repeat(2 * 1_048_576 - 12);
    const after = 'y'.repeat(3 * 1_048_576);
    await returning(`${before} ${secret} ${after} ${secret} end`);

    const id = await use.submit();

    const job = await eventually(async () => {
      const found = await use.job(id);
      expect(found.output_safety).toMatchObject({ decision: 'REDACT', phase: 'async', truncated: false });
      return found;
    });
    const clean = String((await use.store.data.read(job.result_ptr ?? '', 9_000_000))?.body);
    expect(clean === `${before} [REDACTED] ${after} [REDACTED] end`).toBe(true);
    expect(job.output_safety?.scanned_bytes).toBe(before.length + after.length + 2 * secret.length + 7);
  });

  it('applies the fail mode of the tenant to a result that is too large to scan', async () => {
    await use.orgConfig('careful', { scheduler: { output_fail_mode: 'closed' } });
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'redact')) });
    await returning('z'.repeat(33 * 1_048_576));

    const [open, closed] = [await use.submit(), await use.submit({}, 'careful')];

    // Two scans of 32 MiB take long on a busy machine.
    const busy = { withinMs: 60_000, everyMs: 100 };
    const quarantined = { state: 'OUTPUT_QUARANTINED', error_code: 'output_quarantined_async' };
    await eventually(async () => expect(await use.job(closed)).toMatchObject(quarantined), busy);
    const released = { decision: 'ALLOW', phase: 'async', skipped: true };
    await eventually(async () => expect((await use.job(open)).output_safety).toMatchObject(released), busy);
  }, 150_000);

  it('precedes the release when a critical rule matches', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'quarantine', 'critical', 'hold: true, ')) });
    let text = `the key is ${secret}`;
    await use.worker({ id: 'w1', topics: { 'job.>': () => new TextEncoder().encode(text) } });

    const held = await use.submit();
    const job = await use.until(held, 'OUTPUT_QUARANTINED', { error_code: 'output_quarantined' });
    text = 'harmless';
    const clean = await use.until(await use.submit(), 'SUCCEEDED');

    expect(await use.path(held)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'OUTPUT_QUARANTINED']);
    expect(job.output_safety).toMatchObject({ decision: 'QUARANTINE', phase: 'async' });
    expect(clean.output_safety).toMatchObject({ decision: 'ALLOW', phase: 'async', scanned_bytes: 8 });
  });

  it('is idempotent', async () => {
    const { ctx } = await use.start({ policy: policy(rule('{ scanners: [secret] }', 'redact')) });
    await returning(`the key is ${secret}, keep it`);
    const id = await use.submit();
    const pointer = await eventually(async () => {
      const { output_safety: verdict } = await use.job(id);
      expect(verdict?.phase).toBe('async');
      return verdict?.redacted_ptr;
    });

    const { dispatch_id: dispatch = '' } = await use.job(id);
    await Promise.all([scanOutput(ctx, id, dispatch), scanOutput(ctx, id, dispatch)]);

    const after = await use.job(id);
    expect(after.result_ptr).toBe(pointer);
    expect(after.output_safety?.original_ptr).toBe(`redis://res:${id}`);
    expect(await use.path(id)).toHaveLength(4);
  });

  it('is marked skipped when a scanner failed and the fail mode of the policy is open', async () => {
    const { ctx } = await use.start({ policy: policy(rule('{ scanners: [secret] }', 'quarantine'), 'open') });
    const { checkOutput } = ctx.kernel;
    jest.spyOn(ctx.kernel, 'checkOutput').mockImplementation(async (asked) => {
      const verdict = await checkOutput.call(ctx.kernel, asked);
      return asked.output_content ? { ...verdict, findings: [skipped] } : verdict;
    });
    await returning('harmless');

    const id = await use.submit();

    const job = await use.until(id, 'SUCCEEDED');
    expect(job.output_safety).toMatchObject({ decision: 'ALLOW', phase: 'async', skipped: true });
  });

  it.each([
    ['open', 'SUCCEEDED'],
    ['closed', 'OUTPUT_QUARANTINED'],
  ] as const)('fail mode %s: a result that cannot be scanned ends %s', async (outputPolicyFailMode, state) => {
    const scans = policy(rule('{ scanners: [secret] }', 'quarantine'));
    const { events } = await use.start({ policy: scans, env: { outputPolicyFailMode } });
    const worker = await use.rawWorker({ id: 'w1' });
    const id = await use.submit();
    const request = await worker.dispatched(id);
    use.broken.add('checkOutput');

    await worker.answer(request, 'SUCCEEDED', { result_ptr: `redis://res:${id}` });

    await eventually(() => expect(named(events, 'outputSkipped')).toHaveLength(2));
    await use.until(id, state);
  });

  it.each([
    ['the result of another job', 'redis://res:other'],
    ['the input of another job', 'redis://ctx:other'],
    ['a config document', 'redis://cfg:system:policy'],
    ['a record of the store', 'redis://{s0}:dlq:entry:other'],
    ['the worker snapshot', 'redis://sys:workers:snapshot'],
  ])('fails a job whose result_ptr names %s, without reading it', async (_, pointer) => {
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'redact')) });
    await use.redis.set(pointer.slice('redis://'.length), JSON.stringify({ leaked: secret }));
    await use.rawAnswering('SUCCEEDED', { result_ptr: pointer });

    const id = await use.submit();

    const job = await use.until(id, 'FAILED', {
      error_code: 'result_ptr_not_own',
      reported: 'FAILED_FATAL',
    });
    expect(job.result_ptr).toBeUndefined();
    expect(await use.redis.keys(`res:${id}*`)).toEqual([]);
  });

  it.each([
    ['closed', 'OUTPUT_QUARANTINED', { decision: 'QUARANTINE', findings: [{ type: 'pointer_unreadable' }] }],
    ['open', 'SUCCEEDED', { skipped: true, findings: [{ type: 'pointer_unreadable' }] }],
  ] as const)(
    'fail mode %s: a result in a foreign store that a rule must scan is %s',
    async (failMode, state, safety) => {
      const document = { scheduler: { output_fail_mode: failMode } };
      await use.start({ policy: policy(rule('{ scanners: [secret] }', 'quarantine')), config: document });
      await use.rawAnswering('SUCCEEDED', { result_ptr: 's3://bucket/answer' });

      const id = await use.submit();

      await eventually(async () => expect(await use.job(id)).toMatchObject({ state, output_safety: safety }));
    },
  );

  it('keeps a pointer to a foreign store when no rule must scan it', async () => {
    await use.start({ policy: policy(rule('{ output_size_gt: 10 }', 'quarantine')) });
    await use.rawAnswering('SUCCEEDED', { result_ptr: 's3://bucket/answer' });

    await use.until(await use.submit(), 'SUCCEEDED', { result_ptr: 's3://bucket/answer' });
  });
});

describe('the audit event of a check', () => {
  const auditEvents = (id: string) => use.published('job_progress', subjects.auditOutputPolicy.name, id);

  it.each([
    ['{ output_size_gt: 10 }', 'quarantine', 'QUARANTINE (sync) by the-rule: because'],
    ['{ scanners: [secret] }', 'quarantine', 'QUARANTINE (async) by the-rule: because (1 findings)'],
    ['{ scanners: [secret] }', 'redact', 'REDACT (async) by the-rule: because (1 findings)'],
  ])('%s, %s: has the decision and its rule, and no content of the result', async (match, decision, message) => {
    await use.start({ policy: policy(rule(match, decision)) });
    await returning(`the key is ${secret}, keep it`);

    const id = await use.submit();

    expect(await auditEvents(id)).toMatchObject([{ job_id: id, step_id: 'output_policy', message }]);
    expect(JSON.stringify(use.packets)).not.toContain(secret);
  });

  it('reports a skipped check, and is not published for a clean result', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'quarantine')) });
    await returning('harmless');
    const clean = await use.submit();
    await eventually(async () => expect((await use.job(clean)).output_safety).toMatchObject({ phase: 'async' }));
    use.broken.add('checkOutput');

    const id = await use.submit();

    expect(await auditEvents(id)).toMatchObject([{ message: 'SKIPPED (sync): the check could not be made' }]);
    expect(use.bodies('job_progress', subjects.auditOutputPolicy.name, clean)).toEqual([]);
  });
});

describe('a failure', () => {
  it('keeps its state, and its error contains no secret', async () => {
    await use.start({ policy: policy(rule('{ scanners: [secret] }', 'quarantine')) });
    const topics = { 'job.>': () => Promise.reject(new FatalError(`tried with ${secret}`, { code: 'broken' })) };
    await use.worker({ id: 'w1', topics });

    const id = await use.submit();

    await use.until(id, 'FAILED', { error_code: 'broken', error_message: 'tried with [REDACTED]' });
    expect(await use.deadLetter(id)).toMatchObject({ reason: 'tried with [REDACTED]' });
  });
});

import { status } from '@grpc/grpc-js';
import { AppError, grpcServices, limits } from '@svc/contract';
import { startGrpcServer, unary, type GrpcServer, type Method } from '@svc/grpc';
import { Health, systemClock } from '@svc/runtime';
import { eventually } from '@svc/testing';
import type { DecisionAnswerMessage, DecisionBatchRequestMessage, DecisionMethod } from '../wire/batch-messages';
import { policyCodec } from '../wire/policy-codec';
import { checkRequestMessage, checkResponseMessage, type PolicyCheckRequestMessage } from '../wire/policy-messages';
import { KernelConnection } from './kernel-connection';

const codec = policyCodec();
const never = () => new Promise<never>(() => undefined);

/** A kernel that echoes requests and records its calls. */
const echo = (method: string, { job_id }: PolicyCheckRequestMessage) =>
  checkResponseMessage({
    decision: 'ALLOW', reason: `${method} ${job_id}`, rule_id: '', policy_snapshot: '', remediations: [], approval_required: false,
  }); // prettier-ignore

describe('requests to a remote kernel', () => {
  let calls: string[];
  let deadlines: number[];
  let decide: (request: DecisionBatchRequestMessage) => Promise<{ answers: DecisionAnswerMessage[] }>;
  let server: GrpcServer;
  let connection: KernelConnection;
  let nowMs: number;

  const answered = (method: string, request: Buffer): DecisionAnswerMessage => ({
    response: codec.encodeResponse(echo(method, codec.decodeRequest(request))), code: 0, details: '', error_code: '',
  }); // prettier-ignore
  const answerAll = async ({ questions }: DecisionBatchRequestMessage) => ({
    answers: questions.map(({ method, request }) => answered(method, request)),
  });
  const kernel = (): Record<string, Method> => {
    const one = (method: string) =>
      unary<PolicyCheckRequestMessage, object>(async (message) => {
        calls.push(`${method} ${message.job_id}`);
        return message.job_id === 'lost' ? never() : echo(method, message);
      });
    const ListSnapshots = unary(async () => ({}));
    return { Check: one('Check'), Evaluate: one('Evaluate'), Explain: one('Explain'), Simulate: one('Simulate'), ListSnapshots }; // prettier-ignore
  };
  const kernelBatch = (): Record<string, Method> => ({
    Decide: unary<DecisionBatchRequestMessage, object>(async (request, { deadlineMs }) => {
      calls.push(`batch of ${request.questions.length}`);
      deadlines.push(deadlineMs);
      return decide(request);
    }),
  });
  const serve = (services: Record<string, Record<string, Method>>, port = 0) =>
    startGrpcServer(
      {
        address: { host: '127.0.0.1', port },
        connections: { keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000, maxConnectionAgeMs: 60_000, maxConnectionAgeGraceMs: 1_000 },
        reflection: false,
        services,
      },
      { health: new Health({ clock: { nowMs: () => 0 } }), clock: systemClock(), onDefect: () => undefined, onTlsError: () => undefined },
    ); // prettier-ignore
  const both = () => ({ [grpcServices.kernel]: kernel(), [grpcServices.kernelBatch]: kernelBatch() });
  const ask = async (id: string, method: DecisionMethod = 'Check', timeoutMs = 5_000, content = '') => {
    const message = checkRequestMessage({ topic: 'job.a', job_id: id, ...(content && { input_content: content }) });
    return (await connection.decide(method, message, timeoutMs)).reason;
  };
  const pair = () => Promise.all([ask('1'), ask('2')]);
  const codes = async (asked: readonly Promise<string>[]) =>
    (await Promise.allSettled(asked)).map((ended) =>
      ended.status === 'fulfilled' ? ended.value : (ended.reason as { code?: number }).code,
    );

  beforeEach(async () => {
    calls = [];
    deadlines = [];
    decide = answerAll;
    nowMs = 0;
    server = await serve(both());
    connection = await KernelConnection.open(
      {
        address: { host: '127.0.0.1', port: server.port },
        tls: undefined,
        keepaliveTimeMs: 30_000,
        keepaliveTimeoutMs: 10_000,
      },
      () => nowMs,
    );
  });
  afterEach(async () => {
    connection.close();
    await server.close(0);
  });

  it('of one turn share a call, and each gets its own result', async () => {
    const methods = ['Check', 'Evaluate', 'Explain', 'Simulate'] as const;

    expect(await Promise.all(methods.map((method, i) => ask(`${i}`, method)))).toEqual([
      'Check 0',
      'Evaluate 1',
      'Explain 2',
      'Simulate 3',
    ]);
    expect(calls).toEqual(['batch of 4']);
  });

  it('a single request in a turn uses a single call', async () => {
    expect(await ask('1')).toBe('Check 1');
    expect(await ask('2')).toBe('Check 2');

    expect(calls).toEqual(['Check 1', 'Check 2']);
  });

  it('many requests of one turn use several calls', async () => {
    const ids = Array.from({ length: 2 * limits.decisionBatch + 1 }, (_, i) => `${i}`);

    expect(await Promise.all(ids.map((id) => ask(id)))).toEqual(ids.map((id) => `Check ${id}`));
    expect(calls.sort()).toEqual(['Check 64', 'batch of 32', 'batch of 32']);
  });

  it('with content that is scanned on a thread, or otherwise large, use a single call', async () => {
    const small = [ask('1'), ask('2')];
    const large = ask('large', 'Check', 5_000, 'x'.repeat(8 * 1_024));
    const config = { note: 'x'.repeat(limits.decisionBatchBytes / limits.decisionBatch) };
    const message = checkRequestMessage({ topic: 'job.a', job_id: 'wide', effective_config: config });
    const wide = connection.decide('Check', message, 5_000);

    await Promise.all([...small, large, wide]);

    expect(calls.sort()).toEqual(['Check large', 'Check wide', 'batch of 2']);
  });

  it('with a candidate policy use a single call, since it may have to be compiled', async () => {
    const message = checkRequestMessage(
      { topic: 'job.a', job_id: 'tried' },
      { candidate: { id: 'secops/a', content: 'rules: []' } },
    );
    const without = checkRequestMessage({ topic: 'job.a', job_id: 'plain' }, { without: ['velocity'] });
    const tried = connection.decide('Simulate', message, 5_000);

    await Promise.all([ask('1'), tried, ask('2'), connection.decide('Simulate', without, 5_000)]);

    expect(calls.sort()).toEqual(['Simulate tried', 'batch of 3']);
  });

  it('a full batch of the largest batched requests is within its limit', async () => {
    let bytes = 0;
    decide = (request) => {
      bytes = request.questions.reduce((sum, { request: encoded }) => sum + encoded.length, 0);
      return answerAll(request);
    };
    const config = { note: 'x'.repeat(limits.decisionBatchBytes / limits.decisionBatch - 100) };
    const message = checkRequestMessage({ topic: 'job.a', effective_config: config });

    await Promise.all(Array.from({ length: limits.decisionBatch }, () => connection.decide('Check', message, 5_000)));

    expect(calls).toEqual(['batch of 32']);
    expect(bytes).toBeGreaterThan(limits.decisionBatchBytes * 0.99);
    expect(bytes).toBeLessThanOrEqual(limits.decisionBatchBytes);
  });

  it('with different timeouts use different calls, each with its deadline', async () => {
    const beforeMs = Date.now();

    await Promise.all([ask('1', 'Check', 5_000), ask('2', 'Check', 9_000), ask('3', 'Check', 5_000), ask('4', 'Check', 9_000)]); // prettier-ignore

    expect(calls).toEqual(['batch of 2', 'batch of 2']);
    const [first = 0, second = 0] = deadlines.map((deadlineMs) => deadlineMs - beforeMs).sort((a, b) => a - b);
    expect(second - first).toBeGreaterThan(3_000);
    expect(first).toBeGreaterThan(4_000);
  });

  it('all fail on a timeout', async () => {
    decide = never;

    expect(await codes([ask('1', 'Check', 50), ask('2', 'Check', 50)])).toEqual([
      status.DEADLINE_EXCEEDED,
      status.DEADLINE_EXCEEDED,
    ]);
  });

  it('do not wait for a batch in flight', async () => {
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    decide = async (request) => {
      if (deadlines.length === 1) await held;
      return answerAll(request);
    };
    const first = pair();
    await eventually(() => calls.length === 1);

    expect(await pair()).toEqual(['Check 1', 'Check 2']);
    finish();

    expect(await first).toEqual(['Check 1', 'Check 2']);
  });

  it('one that fails in the kernel, or whose result is invalid, fails alone', async () => {
    const failure = { response: Buffer.alloc(0), code: status.INVALID_ARGUMENT, details: 'no JSON', error_code: 'invalid_json' }; // prettier-ignore
    decide = async ({ questions }) => ({
      answers: questions.map(({ method, request }, i) => {
        if (i === 1) return failure;
        return i === 2 ? { ...failure, code: 0, response: Buffer.from([0xff]) } : answered(method, request);
      }),
    });

    const asked = ['0', '1', '2', '3'].map((id) => ask(id));

    expect(await codes(asked)).toEqual(['Check 0', status.INVALID_ARGUMENT, undefined, 'Check 3']);
    await expect(asked[1]).rejects.toThrow('3 INVALID_ARGUMENT: no JSON');
  });

  it('never get the result of another: those without one fail', async () => {
    decide = async ({ questions }) => answerAll({ questions: questions.slice(0, 1) });

    const [first, second] = await Promise.allSettled([ask('1'), ask('2')]);

    expect(first).toMatchObject({ value: 'Check 1' });
    expect(second).toMatchObject({ reason: { message: 'the kernel returned fewer results than requests' } });
  });

  it('a failed batch fails all its requests, without a retry', async () => {
    decide = () => Promise.reject(new AppError('service_unavailable'));

    expect(await codes([ask('1'), ask('2')])).toEqual([status.UNAVAILABLE, status.UNAVAILABLE]);
    expect(calls).toEqual(['batch of 2']);
  });

  it('a rejected batch falls back to single calls, and the next is batched again', async () => {
    decide = () => Promise.reject(new AppError('invalid_body'));
    expect(await pair()).toEqual(['Check 1', 'Check 2']);
    decide = answerAll;

    await pair();

    expect(calls).toEqual(['batch of 2', 'Check 1', 'Check 2', 'batch of 2']);
  });

  it('are rejected when the connection is closed in their turn', async () => {
    await ask('0');
    const asked = pair();
    connection.close();

    await expect(asked).rejects.toThrow();
  });

  describe('without batch support', () => {
    it.each(['method_not_allowed', 'access_denied'] as const)('use single calls for a minute: %s', async (code) => {
      decide = () => Promise.reject(new AppError(code));

      expect(await pair()).toEqual(['Check 1', 'Check 2']);
      nowMs += 59_999;
      expect(await pair()).toEqual(['Check 1', 'Check 2']);
      expect(calls).toEqual(['batch of 2', 'Check 1', 'Check 2', 'Check 1', 'Check 2']);

      nowMs += 1;
      decide = answerAll;
      expect(await pair()).toEqual(['Check 1', 'Check 2']);
      expect(calls.slice(5)).toEqual(['batch of 2']);
    });

    it('are batched again after a reconnect', async () => {
      const { port } = server;
      await server.close(0);
      server = await serve({ [grpcServices.kernel]: kernel() }, port);
      await eventually(async () => expect(await pair()).toEqual(['Check 1', 'Check 2']));
      expect(calls).not.toContain('batch of 2');

      await server.close(0);
      server = await serve(both(), port);

      await eventually(async () => {
        await pair();
        expect(calls).toContain('batch of 2');
      });
    });
  });
});

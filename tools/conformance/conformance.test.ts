import { endChild, spawnLeashed, startNats, startRedis, type TestServer } from '@svc/testing';
import { createWorker, FatalError } from '@svc/worker-sdk';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPythonSdk, requirePython, scriptPath } from '../third-party/python';
import { checks } from './checks';
import { OptionError, readOptions } from './options';
import { Platform } from './platform';
import { describeResult, hasFailed, toJunit } from './report';
import { runChecks, type Report } from './run-checks';
import { parseReceipt } from './receipt';
import { startSampleWorker, type Faults } from './sample-worker.testing';
import type { SessionOptions } from './session';
import { startWorker } from './worker-process';

jest.setTimeout(120_000);

const topics = { echo: 'job.conformance.echo', fail: 'job.conformance.fail', slow: 'job.conformance.slow' };
const times = { answerMs: 10_000, settleMs: 400, slowSec: 0.6, graceSec: 1, waitMs: 60_000 };

let nats: TestServer;
let redis: TestServer;
let platform: Platform;

beforeAll(async () => {
  [nats, redis] = await Promise.all([startNats(), startRedis()]);
  platform = await Platform.open(nats.url, redis.url);
}, 30_000);
afterAll(async () => {
  await platform?.close();
  await Promise.all([nats?.stop(), redis?.stop()]);
}, 30_000);

const options = (pool: string, more: Partial<SessionOptions> = {}): SessionOptions => ({
  pool,
  topics,
  named: new Set(),
  ...times,
  ...more,
});

describe('every check fails for a worker that', () => {
  const cases: [keyof Faults, string][] = [
    ['heartbeatOfAnotherSender', 'heartbeat'],
    ['handshakeWithoutVersion', 'handshake'],
    ['pointerOfAnotherJob', 'success'],
    ['wrongAttempt', 'dispatch_echo'],
    ['failuresSucceed', 'failure'],
    ['acknowledgesFirst', 'late_ack'],
    ['repeatsRunningJobs', 'duplicate_running'],
    ['repeatsFinishedJobs', 'duplicate_finished'],
    ['ignoresCancels', 'cancel'],
    ['cancelsEveryDispatch', 'cancel_older_dispatch'],
    ['ignoresNewAttempts', 'lease_loss'],
    ['refusesLargeInputs', 'oversize_input'],
    ['sendsLargeResultsInline', 'oversize_result'],
    ['returnsNoTicket', 'inline_data'],
    ['acceptsAnyTenant', 'wrong_tenant'],
    ['acceptsForeignDispatches', 'foreign_dispatch'],
    ['stopsAtMalformedPackets', 'malformed'],
    ['progressBeyondAll', 'progress'],
    ['acceptsJobsWhileDraining', 'drain'],
  ];

  it('is listed here', () => {
    expect(cases.map(([, id]) => id).sort()).toEqual(checks.map(({ id }) => id).sort());
  });

  it.each(cases)('%s: %s', async (fault, id) => {
    const worker = await startSampleWorker({ natsUrl: nats.url, redisUrl: redis.url, id: fault }, { [fault]: true });
    try {
      // Progress is judged from the reports of other checks.
      const only = id === 'progress' ? ['success', id] : [id];
      // Slow jobs last long enough that a repeat, and an early acknowledgement, is noticed on a busy machine.
      const quick = { answerMs: 1_500, slowSec: 1.5, process: worker };
      const report = await runChecks(platform, options(fault, quick), { only });

      expect(report.checks.at(-1)).toMatchObject({ id, outcome: 'failed' });
    } finally {
      await worker.stop();
    }
  });

  it('and all pass for one without faults', async () => {
    const worker = await startSampleWorker({ natsUrl: nats.url, redisUrl: redis.url, id: 'sample' }, {});
    const report = await runChecks(platform, options('sample', { process: worker }));
    await worker.stop();

    expect(report.checks.map(describeResult).filter((line) => !line.startsWith('passed'))).toEqual([]);
    expect(hasFailed(report)).toBe(false);
  });
});

describe('a worker process that ends', () => {
  // Longer than the test may take: only the end of the process can end these waits.
  const patient = { answerMs: 600_000, waitMs: 600_000 };

  it('before its first heartbeat is reported at once, with its exit code', async () => {
    const worker = startWorker(['sh', '-c', 'exit 3'], {});
    const running = runChecks(platform, options('none', { ...patient, process: worker }));

    await expect(running).rejects.toThrow('seen: the end of its process: exit code 3');
  });

  it('during a check fails that check and the rest, without their waits', async () => {
    const worker = await startSampleWorker({ natsUrl: nats.url, redisUrl: redis.url, id: 'brief' }, {});
    const onResult = () => void worker.stop();
    const report = await runChecks(platform, options('brief', { ...patient, process: worker }), {
      only: ['success', 'failure', 'heartbeat'],
      onResult,
    });

    expect(report.checks).toMatchObject([
      { id: 'success', outcome: 'passed' },
      { id: 'failure', outcome: 'failed', seen: 'the end of its process: it was stopped' },
      { id: 'heartbeat', outcome: 'failed' },
    ]);
  });
});

/** On one bus at the same time, each in a pool of its own. */
describe('workers that people use', () => {
  let reports: Record<'typescript' | 'python' | 'published', Report>;
  beforeAll(async () => {
    const [typescript, python, published] = await Promise.all([checkTypescript(), checkPython(), checkPublished()]);
    reports = { typescript, python, published };
  }, 120_000);

  const withoutPassed = ({ checks: results }: Report) =>
    results.map(describeResult).filter((line) => !line.startsWith('passed'));

  it('the TypeScript SDK passes every check', () => {
    expect(withoutPassed(reports.typescript)).toEqual([]);
  });

  it('the Python SDK passes every check', () => {
    expect(withoutPassed(reports.python)).toEqual([]);
  });

  it('the published package remembers and verifies no dispatches, and does not drain', () => {
    const failed = ['duplicate_running', 'duplicate_finished', 'wrong_tenant', 'foreign_dispatch', 'drain'];
    // It subscribes with core NATS, and its example has no topic that fails.
    const notApplicable = ['failure', 'late_ack', 'inline_data'];
    const exceptions = reports.published.checks.filter(({ outcome }) => outcome !== 'passed');

    expect(Object.fromEntries(exceptions.map(({ id, outcome }) => [id, outcome]))).toEqual({
      ...Object.fromEntries(failed.map((id) => [id, 'failed'])),
      ...Object.fromEntries(notApplicable.map((id) => [id, 'not_applicable'])),
    });
  });

  async function checkTypescript(): Promise<Report> {
    const worker = createWorker({
      id: 'ts-sdk',
      pool: 'ts-sdk',
      concurrency: 4,
      natsUrl: nats.url,
      redisUrl: redis.url,
      signals: [],
      heartbeatMs: 1_000,
      onError: () => undefined,
      topics: {
        [topics.echo]: (job) => ({ echo: job.prompt }),
        [topics.fail]: () => {
          throw new FatalError('broken', { code: 'broken' });
        },
        [topics.slow]: async (job) => {
          job.progress(50);
          await sleep(1_000 * (job.context as { seconds: number }).seconds, undefined, { signal: job.signal });
          return 'done';
        },
      },
    });
    await worker.start();
    let end: () => void = () => undefined;
    const ended = new Promise<string>((settle) => (end = () => settle('stopped')));
    try {
      const process = { drain: () => void worker.stop().then(end), ended };
      return await runChecks(platform, options('ts-sdk', { process }));
    } finally {
      await worker.stop();
    }
  }

  async function checkPython(): Promise<Report> {
    const packages = mkdtempSync(join(tmpdir(), 'svc-python-sdk-'));
    try {
      installPythonSdk(packages);
      const env = { PYTHONPATH: packages, SVC_POOL: 'py-sdk', WORKER_ID: 'py-sdk' };
      return await checkScript(resolve(__dirname, '../../examples/workers/worker.py'), env, options('py-sdk'));
    } finally {
      rmSync(packages, { recursive: true });
    }
  }

  function checkPublished(): Promise<Report> {
    const own = { echo: 'job.demo.echo', slow: 'job.demo.slow', fail: 'job.demo.none' };
    const named = new Set(['echo', 'slow'] as const);
    const session = options('demo', { topics: own, named, answerMs: 5_000 });
    return checkScript(scriptPath('worker.py'), { WORKER_ID: 'published' }, session);
  }

  async function checkScript(script: string, more: NodeJS.ProcessEnv, session: SessionOptions): Promise<Report> {
    const env = { ...process.env, NATS_URL: nats.url, REDIS_URL: redis.url, ...more };
    const child = spawnLeashed(requirePython(), [script], { env, output: 'ignore' });
    const ended = once(child, 'exit').then(([code]: unknown[]) => `exit code ${String(code)}`);
    try {
      return await runChecks(platform, { ...session, process: { drain: () => void child.kill('SIGTERM'), ended } });
    } finally {
      await endChild(child);
    }
  }
});

it('receipts are read in both forms of their subject', () => {
  const receipt = { stream: 'SVC_JOBS', consumer: 'dur_w', streamSeq: 7, isFinal: true };

  expect(parseReceipt('$JS.ACK.SVC_JOBS.dur_w.1.7.3.170.0', '+ACK')).toEqual(receipt);
  expect(parseReceipt('$JS.ACK.hub.acc.SVC_JOBS.dur_w.2.7.3.170.0.x', '')).toEqual(receipt);
  expect(parseReceipt('$JS.ACK.SVC_JOBS.dur_w.1.7.3.170.0', '+WPI')).toMatchObject({ isFinal: false });
  expect(parseReceipt('$JS.ACK.SVC_JOBS.dur_w.1.7.3.170.0', '-NAK {"delay": 5}')).toMatchObject({ isFinal: false });
  expect(parseReceipt('$JS.ACK', '')).toBeUndefined();
});

describe('the report', () => {
  const report: Report = {
    worker_id: 'w<1>',
    pool: 'demo',
    sdk_version: '',
    checks: [
      { id: 'success', title: 'A', durationMs: 12, outcome: 'passed' },
      {
        id: 'cancel',
        title: 'B',
        durationMs: 5,
        outcome: 'failed',
        expected: 'CANCELLED',
        seen: 'a "result" & \u0007',
      },
      { id: 'drain', title: 'C', durationMs: 0, outcome: 'not_applicable', reason: 'no process' },
    ],
  };

  it('in the format of JUnit is well-formed', () => {
    expect(toJunit(report)).toContain('<testsuite name="conformance of w&lt;1&gt;" tests="3" failures="1" skipped="1"');
    expect(toJunit(report)).toContain('seen: a &quot;result&quot; &amp; \ufffd');
    expect(hasFailed(report)).toBe(true);
  });

  it('options that contradict each other are refused', () => {
    expect(() => readOptions([])).toThrow(OptionError);
    expect(() => readOptions(['--pool', 'p', '--nats-url', 'x'])).toThrow('belong together');
    expect(() => readOptions(['--pool', 'p', '--only', 'nothing'])).toThrow('there is no check');
    for (const wrong of ['0.5', '0', 'soon'])
      expect(() => readOptions(['--pool', 'p', '--grace-sec', wrong])).toThrow('--grace-sec must be');
    expect(readOptions(['--pool', 'p', '--topic', 'job.x', '--', 'python', 'w.py', '--flag'])).toMatchObject({
      command: ['python', 'w.py', '--flag'],
      session: { topics: { echo: 'job.x' }, named: new Set(['echo']) },
    });
  });
});

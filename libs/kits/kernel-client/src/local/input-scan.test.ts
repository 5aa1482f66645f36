import type { PolicyRequest } from '@svc/policy';
import { systemClock } from '@svc/runtime';
import { startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import type { Kernel } from '../kernel';
import { kernelFiles, listeningLog } from '../kernel.testing';
import { openLocalKernel } from './open-local-kernel';

/** Legal, linear, and still a second of work for every window: its automaton has a thousand states alive at once. */
const heavy = '(?:a?){500}a{500}b';
// Runs of a that are nearly long enough, so that the automaton really fills up, with the b that a quick look asks for.
const heavyText = `${'a'.repeat(400)}b `.repeat(2_500);
const buildPolicy = (match: string, more = '') => `
version: '1'
input_policy: {enabled: true, fail_mode: closed}
rules:
  - id: pace
    match: {topics: [job.paced]}
    velocity: {max_requests: 2, window_seconds: 60, key: tenant}
    decision: throttle
    throttle_duration: 1s
  - {id: all, decision: allow}
input_rules:
  - {id: found, decision: deny, match: ${match}}
${more}`;
const job = (content: string, over: Partial<PolicyRequest> = {}): PolicyRequest => {
  return { topic: 'job.a', tenant: 'acme', job_id: 'j1', input_content: content, ...over };
};

describe('the scan of an input', () => {
  let server: TestServer;
  let redis: Redis;
  let files: ReturnType<typeof kernelFiles>;
  let kernel: Kernel;
  const open = async (policy: string) => {
    files.policy(policy);
    kernel = await openLocalKernel(files.settings(), { redis, log: listeningLog().log, clock: systemClock() });
  };

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
    files = kernelFiles();
  });
  beforeEach(() => redis.flushall());
  afterEach(() => kernel.close());
  afterAll(async () => {
    files.remove();
    redis.disconnect();
    await server.stop();
  });

  it('the process stays responsive during a slow pattern, and the fail mode decides', async () => {
    await open(buildPolicy(`{content_patterns: ["${heavy}"]}`));
    let turns = 0;
    let turn = setImmediate(function again() {
      turns += 1;
      turn = setImmediate(again);
    });

    const decision = await kernel.check(job(heavyText));
    clearImmediate(turn);

    expect(decision).toMatchObject({ decision: 'REQUIRE_APPROVAL', reason: expect.stringMatching(/did not end/) });
    expect(turns).toBeGreaterThan(10);
  });

  it('a scan after a terminated one succeeds', async () => {
    await open(buildPolicy(`{content_patterns: ["${heavy}"]}`));

    await kernel.check(job(heavyText));

    expect(await kernel.check(job('hello'))).toMatchObject({ decision: 'ALLOW', rule_id: 'all' });
  });

  it.each([
    ['a scanner', '{scanners: [secret]}', 'key AKIAIOSFODNN7EXAMPLE'],
    ['a content pattern', '{content_patterns: ["dock-[0-9]{4}"]}', 'badge dock-1234'],
    ['a keyword', '{keywords: [Überweisung]}', 'die überweisung'],
  ])('%s finds what later rules of the same kind do not', async (_, match, content) => {
    await open(buildPolicy(match, '  - {id: other, decision: deny, match: {keywords: [nowhere]}}\n'));

    expect(await kernel.evaluate(job(content))).toMatchObject({ decision: 'DENY', rule_id: 'found' });
    expect(await kernel.evaluate(job('nothing of it'))).toMatchObject({ decision: 'ALLOW' });
  });

  it('a request without a job is counted once, though its rules are evaluated twice', async () => {
    await open(buildPolicy('{content_patterns: ["dock-[0-9]{4}"]}'));
    const { job_id: _, ...request } = job('hello', { topic: 'job.paced' });

    const decisions = [await kernel.check(request), await kernel.check(request), await kernel.check(request)];

    expect(decisions.map(({ decision }) => decision)).toEqual(['ALLOW', 'ALLOW', 'THROTTLE']);
  });
});

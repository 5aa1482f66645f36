import { standardScanners } from '@svc/kernel-client';
import type { PolicyDecision } from '@svc/policy';
import { queues } from '@svc/queues.config';
import type { RecordedRequest } from '@svc/policy-lab';
import { openStore, type DecisionRecord } from '@svc/store';
import { plainRequest, startRedis, type TestServer } from '@svc/testing';
import { Redis } from 'ioredis';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ofFile } from './decisions';
import { difference, passed } from './diff';
import { Unusable } from './options';
import { readPolicy } from './read-policy';

jest.setTimeout(60_000);

let dir = '';
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'policy-diff-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const rules = (...lines: string[]) => `version: '1'\nrules:\n${lines.map((line) => `  - ${line}\n`).join('')}`;
const before = rules(
  '{id: wide, match: {topics: [job.a, job.b]}, decision: allow}',
  '{id: pace, match: {topics: [job.c]}, velocity: {max_requests: 1, window_seconds: 60, key: tenant}, decision: throttle, throttle_duration: 1s}',
  '{id: slow, match: {topics: [job.c]}, decision: allow}',
  '{id: shut, match: {topics: [job.d]}, decision: deny}',
);
const after = rules(
  '{id: big, match: {topics: [job.a], metadata: {amount_gt: 5}}, decision: require_approval, reason: a person}',
  '{id: wide, match: {topics: [job.a]}, decision: allow}',
  '{id: slow, match: {topics: [job.c]}, decision: allow}',
  '{id: shut, match: {topics: [job.d]}, decision: allow}',
);
const asked = (
  topic: string,
  decision: PolicyDecision['decision'] = 'ALLOW',
  content: unknown = {},
): RecordedRequest => ({
  decision,
  rule_id: 'wide',
  decided_at: '2026-01-01T00:00:00.000Z',
  request: { topic, tenant: 't', job_id: `id-${topic}`, input_content: JSON.stringify(content) },
});

describe('a difference of policies', () => {
  const between = async (questions: RecordedRequest[]) => {
    const policies = {
      before: await readPolicy(file('old.yaml', before), undefined),
      after: await readPolicy(file('new.yaml', after), undefined),
    };
    return difference(policies, standardScanners(), questions);
  };

  it('lists changed decisions with their rules', async () => {
    const found = await between([
      asked('job.a', 'ALLOW', { amount: 9 }),
      asked('job.a', 'ALLOW', { amount: 2 }),
      asked('job.b'),
      asked('job.c', 'THROTTLE'),
      asked('job.d', 'DENY'),
    ]);

    expect(found).toMatchObject({
      decisions: 5,
      stricter: 2,
      looser: 1,
      addedApprovals: 1,
      uncovered: 20,
      uncoveredBefore: 0,
      drifted: 1,
      failed: 0,
    });
    expect(found.changes.map(({ topic, before, after, rule }) => [topic, before, after, rule])).toEqual([
      ['job.a', 'ALLOW', 'REQUIRE_APPROVAL', 'big'],
      ['job.b', 'ALLOW', 'DENY', ''],
      ['job.d', 'DENY', 'ALLOW', 'shut'],
    ]);
  });

  it('exceeds a limit only above it', async () => {
    const found = await between([
      asked('job.a', 'ALLOW', { amount: 9 }),
      asked('job.b'),
      asked('job.c'),
      asked('job.d'),
    ]);
    const exact = { changed: 75, looser: 1, approvals: 1, uncovered: 25 };

    expect(passed(found, exact)).toEqual([]);
    expect(passed(found, { changed: 74, looser: 0, approvals: 0, uncovered: 24.9 }).map((text) => text.split(' ')[0])).toEqual([
      '--max-changed', '--max-looser', '--max-approvals', '--max-uncovered',
    ]); // prettier-ignore
  });

  it('of no decisions is empty', async () => {
    const found = await between([]);

    expect(passed(found, { changed: 0, looser: 0, approvals: 0, uncovered: 0 })).toEqual([]);
  });

  it('reads an export, and reports errors with their line', async () => {
    const good = `${JSON.stringify(asked('job.a'))}\n\n${JSON.stringify(asked('job.b'))}\n`;

    expect((await ofFile(file('all.jsonl', good), { most: 10 })).questions).toEqual([asked('job.a'), asked('job.b')]);
    expect((await ofFile(join(dir, 'all.jsonl'), { most: 1 })).warnings).toHaveLength(1);
    for (const [text, where] of [
      [`${good}{"decision":"MAYBE"}\n`, ':4'],
      ['{\n', ':1'],
    ] as const) {
      const failure: unknown = await ofFile(file('bad.jsonl', text), { most: 10 }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Unusable);
      expect(String(failure)).toContain(where);
    }
  });
});

describe('decisions of an installation', () => {
  let server: TestServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  const policy = (...args: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const env = { ...process.env, REDIS_URL: server.url };
      const child = execFile('node', ['tools/run-ts.mjs', 'tools/policy/main.ts', ...args], { env }, (_, out, err) =>
        resolve({ code: child.exitCode ?? -1, out, err }),
      );
    });

  it('are evaluated again with their original input; the exit code reports an exceeded limit', async () => {
    const store = openStore(redis, queues, { metaSec: 3_600, dataSec: 3_600 });
    const decided: DecisionRecord = {
      decision: 'ALLOW',
      rule_id: 'wide',
      policy_snapshot: 's',
      job_hash: 'h',
      checked_at: Date.now() * 1_000,
      source: 'gateway',
    };
    for (const [i, amount] of [9, 2, 7].entries()) {
      const accepted = await store.jobs.accept({
        id: `j${i}`,
        tenant: 'acme',
        traceId: `j${i}`,
        topic: 'job.a',
        fields: { request: { ...plainRequest, topic: 'job.a' }, submitter: 's', job_hash: 'h', safety: decided },
        context: JSON.stringify({ prompt: '', context: { amount } }),
        decision: decided,
        priority: 10,
        activeLimit: 0,
      });
      expect(accepted.kind).toBe('accepted');
    }
    const [old, fresh] = [file('old.yaml', before), file('new.yaml', after)];

    const within = await policy('diff', old, fresh, '--since', '1h', '--json');
    const exported = await policy('export', join(dir, 'out.jsonl'), '--since', '1h');
    const beyond = await policy('diff', old, fresh, '--decisions', join(dir, 'out.jsonl'), '--max-approvals', '1');

    expect([within.code, JSON.parse(within.out)]).toMatchObject([
      0,
      { ok: true, decisions: 3, stricter: 2, addedApprovals: 2 },
    ]);
    expect([exported.code, exported.out]).toEqual([0, expect.stringContaining('3 decisions')]);
    expect([beyond.code, beyond.out]).toEqual([1, expect.stringContaining('FAILED: --max-approvals is 1')]);
  });
});

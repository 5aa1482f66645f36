import { useRedisStore } from '@svc/fixtures/store';
import { type LoggedDecision, type LogRange, RedisDecisionLog } from './decision-log';
import { pageLog, scanLog } from './scan-log';

const hourMs = 3_600_000;
const all = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

describe('the decision log', () => {
  const use = useRedisStore();
  const open = (maxEntries?: number) => new RedisDecisionLog(use.store, hourMs, maxEntries);
  const decision = (position: number, over: Partial<LoggedDecision> = {}): LoggedDecision => ({
    ...{
      position,
      atMs: Date.now(),
      jobId: `j${position}`,
      topic: 'job.a',
      ruleId: 'r',
      verdict: 'deny',
      reason: 'why',
    },
    ...{ constraints: '{"a":1}', agentId: 'a1', principalId: 'p', capability: 'c', riskTags: ['x'], packId: 'k' },
    ...{ policyVersion: 's' },
    ...over,
  });
  const ids = async (log = open()) => (await log.decisions('acme', all, 1_000)).map(({ jobId }) => jobId);

  it('returns what was appended, newest first, for the tenant only', async () => {
    const [first, second] = [decision(1), decision(2)];
    expect(await open().appendDecisions('acme', [first, second])).toBe(2);

    const read = await open().decisions('acme', all, 10);

    expect(read.map(({ place: _, ...one }) => one)).toEqual([
      { ...second, position: 0 },
      { ...first, position: 0 },
    ]);
    expect(await open().decisions('globex', all, 10)).toEqual([]);
  });

  it('ignores entries that it has, so that a batch may be sent again after a crash', async () => {
    const batch = [1, 2, 3].map((position) => decision(position));
    await open().appendDecisions('acme', batch.slice(0, 2));

    expect(await open().appendDecisions('acme', batch)).toBe(1);
    expect(await open().appendDecisions('acme', batch)).toBe(0);
    expect(await ids()).toEqual(['j3', 'j2', 'j1']);
  });

  it('keeps the order of positions when clocks differ', async () => {
    const nowMs = Date.now();
    await open().appendDecisions('acme', [decision(1, { atMs: nowMs }), decision(2, { atMs: nowMs - 500 })]);

    expect(await ids()).toEqual(['j2', 'j1']);
    expect((await open().decisions('acme', all, 1))[0]).toMatchObject({ atMs: nowMs - 500 });
  });

  it('drops expired entries and those over the limit, with the times of rules and topics', async () => {
    const log = open(100);
    await log.appendDecisions('acme', [decision(1, { atMs: Date.now() - 2 * hourMs, ruleId: 'old' })]);
    const many = Array.from({ length: 450 }, (_, i) => decision(i + 2, { ruleId: i % 2 ? '' : 'new', topic: 'job.b' }));

    await log.appendDecisions('acme', many);

    const kept = await ids();
    expect(kept[0]).toBe('j451');
    // Redis trims whole nodes of a stream.
    expect(kept.length).toBeLessThan(300);
    expect([...(await log.ruleMatches('acme')).keys()]).toEqual(['new']);
    expect([...(await log.defaultedTopics('acme')).keys()]).toEqual(['job.b']);
    for (const key of await use.redis.keys('*governance*')) expect(await use.redis.pttl(key)).toBeGreaterThan(0);
  });

  it('is paged and scanned across its pages without loss or repetition', async () => {
    const atMs = Date.now();
    await open().appendDecisions(
      'acme',
      Array.from({ length: 2_500 }, (_, i) => decision(i + 1, { atMs })),
    );
    const log = open();
    const read = log.decisions.bind(log, 'acme');
    const isThird = ({ jobId }: LoggedDecision) => Number(jobId.slice(1)) % 3 === 0;

    const scanned = await scanLog(read, all, 2_000);
    expect({ count: new Set(scanned.entries.map(({ jobId }) => jobId)).size, isCut: scanned.isCut }).toEqual({
      count: 2_000,
      isCut: true,
    });
    expect((await scanLog(read, all)).isCut).toBe(false);

    const found: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const [ms, seq] = cursor.split('-').map(Number);
      const range: LogRange = cursor === '' ? all : { ...all, before: { ms: ms ?? 0, seq: seq ?? 0 } };
      const page: Awaited<ReturnType<typeof pageLog<LoggedDecision>>> = await pageLog(read, range, isThird, 400);
      found.push(...page.entries.map(({ jobId }) => jobId));
      cursor = page.nextCursor || undefined;
    }
    expect(found).toHaveLength(833);
    expect(new Set(found).size).toBe(833);
  });
});

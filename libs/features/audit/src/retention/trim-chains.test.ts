import { ChainVerifier } from '@svc/audit-chain';
import { useRedisStore } from '@svc/fixtures/store';
import { keys } from '@svc/store';
import { Sealer } from '../chain/sealer';
import { trimChains, type RetentionDeps } from './trim-chains';

const use = useRedisStore();
const HOUR_MS = 3_600_000;

/** Records events now, and trims at a later time. */
async function record(tenant: string, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      use.store.audit.record(tenant, { event_type: 'system.auth', action: `act-${i}`, severity: 'INFO' }),
    ),
  );
  await new Sealer(use.store.audit).seal();
}
async function trimOnly(afterHours: number, more: Partial<RetentionDeps> = {}) {
  const reported: unknown[] = [];
  await trimChains({
    store: use.store,
    clock: { nowMs: () => Date.now() + afterHours * HOUR_MS },
    retentionHours: () => 24,
    onTrimmed: (tenant, events) => reported.push({ tenant, events }),
    onFault: (tenant, gap) => reported.push({ tenant, gap }),
    ...more,
  });
  return reported;
}
async function trim(afterHours: number, more: Partial<RetentionDeps> = {}) {
  const reported = await trimOnly(afterHours, more);
  await new Sealer(use.store.audit).seal();
  return reported;
}
const read = (tenant = 'acme') => use.store.audit.range(tenant, '-', '+', 10_000);
const hold = (id: string) => ({
  ...{ id, tenant_id: 'acme', reason: 'r', created_by: 'ann', created_at: new Date().toISOString() },
});
const actor = {
  tenant: 'acme',
  act: { event_type: 'legal_hold.created', action: 'legal_hold.created', severity: 'HIGH' },
} as const;

describe('retention of the audit chain', () => {
  it('removes expired events from the front, and the rest verifies from the boundary', async () => {
    await record('acme', 5);
    await record('globex', 1);
    const removed = (await read()).at(-1);

    expect(await trim(23)).toEqual([]);
    expect(new Set(await trim(25))).toEqual(new Set([{ tenant: 'acme', events: 5 }, { tenant: 'globex', events: 1 }]));

    const [kept, ...more] = await read();
    expect(more).toEqual([]);
    expect(JSON.parse(kept?.text ?? '')).toMatchObject({
      seq: 6,
      event_type: 'audit.retention',
      extra: { events: '5', boundary_seq: '5', boundary_hash: removed?.hash },
    });
    const boundary = await use.store.audit.boundary('acme');
    expect(boundary).toEqual({ seq: 5, hash: removed?.hash });
    const run = new ChainVerifier({ before: boundary });
    run.add(kept ?? { text: '', hash: '', hmac: '' });
    expect(run.finish(await use.store.audit.head('acme'), boundary.seq)).toMatchObject({ status: 'partial', verified: 1 });
  }); // prettier-ignore

  it('does not record the removal of its own records, so that an idle chain becomes empty', async () => {
    await record('acme', 1);
    await trim(25);

    expect(await trim(50)).toEqual([{ tenant: 'acme', events: 1 }]);
    expect(await read()).toEqual([]);
    // The chain continues where it was cut.
    await record('acme', 1);
    expect(JSON.parse((await read())[0]?.text ?? '')).toMatchObject({ seq: 3 });
  });

  it('removes nothing under a legal hold, also one that is created while it runs, and continues after its release', async () => {
    await record('acme', 3);
    await use.store.legalHolds.create(hold('h1'), 1, actor);
    await new Sealer(use.store.audit).seal();

    expect(await trim(25)).toEqual([]);
    // It was read before the hold existed.
    const unaware = { ...use.store, legalHolds: { heldTenants: () => Promise.resolve([]) } };
    expect(await trim(25, { store: unaware })).toEqual([]);
    expect(await read()).toHaveLength(4);

    const by = { releasedAt: new Date().toISOString(), releasedBy: 'ann' };
    await use.store.legalHolds.release('*', 'h1', by, actor);
    await new Sealer(use.store.audit).seal();
    expect(await trim(25)).toEqual([{ tenant: 'acme', events: 5 }]);
  });

  it('keeps expired events that do not verify, and reports the first', async () => {
    await record('acme', 4);
    const second = (await read())[1];
    await use.store.redis.xdel(keys.auditChain('acme'), second?.id ?? '');

    expect(await trim(25)).toEqual([{ tenant: 'acme', gap: { at_seq: 2, type: 'missing' } }]);
    expect(await read()).toHaveLength(3);
  });

  it('removes nothing without a retention', async () => {
    await record('acme', 1);

    expect(await trim(1_000_000, { retentionHours: () => undefined })).toEqual([]);
    expect(await read()).toHaveLength(1);
  });

  it('of two processes one cuts, and the boundary moves only forward', async () => {
    await record('acme', 4_001);

    const reported = (await Promise.all([trimOnly(25), trimOnly(25)])).flat() as { events: number }[];

    expect(reported.reduce((sum, { events }) => sum + events, 0)).toBe(4_001);
    expect(await use.store.audit.boundary('acme')).toMatchObject({ seq: 4_001 });
  }, 60_000);
});

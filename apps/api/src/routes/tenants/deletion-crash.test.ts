import { eraseTenants, type ErasureDeps } from '@svc/tenants';
import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { caller } from '../../caller.testing';
import { identities } from '../../identities.testing';
import { plantBelongings, type Planted } from '../../tenant-belongings.testing';
import { walked } from '../../tenant-requests.testing';
import { findLeft, readAll } from './erasure.testing';

jest.setTimeout(300_000);

const owner = { ...identities.everywhere, key: 'key-of-the-house-0000000001', tenant: 'house' };
const path = '/api/v1/tenants/acme';
const died = 'the process died';
/** Calls that change nothing: a crash before one equals a crash after the preceding change. */
const read =
  /^(get|isHeld|changed|list|idsOf|nowMs|scanStream|smembers|hget|hgetall|type|zrange|lrange|exec|constructor)$/;

/** Calls of an eraser that change something, in order. From the last permitted one on, every call fails, as after a crash. */
class Changes {
  readonly names: string[] = [];

  constructor(private readonly permitted = Infinity) {}

  private readonly note = (name: string): void => {
    if (this.names.length > this.permitted) throw new Error(died);
    if (read.test(name)) return;
    this.names.push(name);
    if (this.names.length > this.permitted) throw new Error(died);
  };

  /** An object whose calls, and those of its parts, are noted. */
  watch<T extends object>(watched: T): T {
    return new Proxy(watched, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        // Names of keys are computed, not sent.
        if (name === 'keys' || typeof value !== 'object' || value === null) {
          if (typeof value !== 'function' || typeof name === 'symbol') return value;
          return (...args: unknown[]): unknown => {
            this.note(name);
            return Reflect.apply(value, target, args);
          };
        }
        return this.watch(value);
      },
    });
  }
}

describe('a process that dies while it deletes a tenant', () => {
  const api = useApi({
    ...walked,
    env: { ...walked.env, SVC_API_KEYS: JSON.stringify([...Object.values(identities), owner]) },
  });
  const house = () => caller(api.url, { 'X-API-Key': owner.key });
  const deps = (changes = new Changes()): ErasureDeps => changes.watch({ ...api.ctx.tenantErasure, runEndMs: 0 });

  /** Runs the loop until the tenant is deleted. */
  async function complete(changes?: Changes): Promise<void> {
    for (let step = 0; step < 20; step++) if ((await eraseTenants(deps(changes))) > 0) return;
    throw new Error('the tenant was not deleted in 20 steps');
  }

  /** Runs the loop until the process dies. */
  async function die(changes: Changes): Promise<void> {
    await expect(complete(changes)).rejects.toThrow(died);
  }

  /** A tenant whose deletion was requested, and another. */
  async function begin(): Promise<{ planted: Planted; theirs: string }> {
    const planted = await plantBelongings(api);
    const theirs = await api.given.job({ tenant: 'globex', state: 'SUCCEEDED', result: { reply: 'kept' } });
    await house().post(`${path}/suspend`, { reason: 'closed' });
    await house().del(`/api/v1/audit/legal-hold/${planted.legalHold}`);
    expect((await house().del(path)).body).toMatchObject({ status: 'deleting' });
    return { planted, theirs };
  }

  /** The whole content of Redis. */
  async function takeDump(): Promise<Map<string, { content: Buffer; ttlMs: number }>> {
    const { redis } = api.store;
    const dump = new Map<string, { content: Buffer; ttlMs: number }>();
    for await (const batch of redis.scanStream({ count: 1_000 })) {
      for (const key of batch as string[]) {
        const [content, ttlMs] = await Promise.all([redis.dumpBuffer(key), redis.pttl(key)]);
        if (content) dump.set(key, { content, ttlMs: Math.max(0, ttlMs) });
      }
    }
    return dump;
  }

  async function restore(dump: Awaited<ReturnType<typeof takeDump>>): Promise<void> {
    const restoring = api.store.redis.multi().flushdb();
    for (const [key, { content, ttlMs }] of dump) restoring.restore(key, ttlMs, content);
    await restoring.exec();
  }

  const listActs = async () => {
    const { body } = await house().get('/api/v1/audit/events?event_type=tenant.changed&tenant=acme');
    return (body['items'] as { action: string }[]).map(({ action }) => action);
  };

  it('after any of its changes, is continued by another: everything of the tenant is removed, and nothing of others', async () => {
    const { planted, theirs } = await begin();
    const dump = await takeDump();
    const others = [...(await readAll(api))].filter(([key]) => key.includes('globex') || key.includes(theirs));
    const whole = new Changes();
    await complete(whole);
    expect(whole.names).toEqual(
      expect.arrayContaining(['cancelJob', 'removeWorkflow', 'revoke', 'multi', 'unlink', 'change']),
    );

    for (let k = 0; k < whole.names.length; k++) {
      await restore(dump);
      await die(new Changes(k));
      await complete();

      const after = await readAll(api);
      const changed = others.filter(([key, content]) => !/index|audit/.test(key) && after.get(key) !== content);
      const at = `${k} ${whole.names[k] ?? ''}`;
      expect([at, findLeft(after, planted), changed]).toEqual([at, [], []]);
      expect((await house().get(path)).body).toMatchObject({ status: 'deleted', erasure: { phase: 'done' } });
      expect((await listActs()).filter((act) => act === 'tenant.deleted')).toHaveLength(1);
      // The tenant is refused until the gateway has read that it is suspended no more.
      await eventually(async () => {
        const { body } = await house().get('/api/v1/audit/verify', { 'X-Tenant-ID': 'acme' });
        expect(body).toMatchObject({ status: 'ok', gaps: [], first_seq: 1 });
      });
    }
  });
});

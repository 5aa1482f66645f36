import { isConsistent, isIncluded, leafHash } from '@svc/audit-chain';
import type { AuditProof } from '@svc/contract';
import { keys } from '@svc/store';
import { generateKeyPairSync } from 'node:crypto';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const { privateKey } = generateKeyPairSync('ed25519');
const api = useApi({
  env: {
    SVC_AUDIT_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    SVC_AUDIT_HMAC_KEY: 'h'.repeat(32),
  },
});
const admin = () => api.as('admin');
type Event = Record<string, unknown> & { extra?: Record<string, string>; seq: number };
const events = async (query = '', as = admin()): Promise<Event[]> => {
  const { status, body } = await as.get(`/api/v1/audit/events?${query}`);
  expect(status).toBe(200);
  return body['items'] as Event[];
};
const submit = async () =>
  String((await admin().post('/api/v1/jobs', { prompt: 'hi', topic: 'job.default' })).body['job_id']);
const lock = (resource: string, as = admin()) => as.post('/api/v1/locks/acquire', { resource, owner: 'ann' });

describe('GET /api/v1/audit/events', () => {
  it('has the decision and the states of a job, written with the job', async () => {
    const id = await submit();
    await admin().post(`/api/v1/jobs/${id}/cancel`, {});

    const [cancelled, request, submitted] = [
      ...(await events(`job_id=${id}&action=job.cancel&event_type=job.transition`)),
      ...(await events(`job_id=${id}&event_type=job.request`)),
      ...(await events(`job_id=${id}&event_type=safety.decision`)),
    ];
    expect(submitted).toMatchObject({
      action: 'job.submit',
      decision: 'ALLOW',
      tenant_id: 'acme',
      extra: { topic: 'job.default' },
    });
    expect(request).toMatchObject({
      action: 'job.cancel',
      identity: expect.any(String),
      extra: { endpoint: 'jobs.cancel', role: 'admin' },
    });
    expect(cancelled).toMatchObject({ extra: { to: 'CANCELLED' } });
  });

  it('has each change of an operator with actor, request and resource, and no refused one', async () => {
    const before = (await events()).length;
    await lock('crane');
    await lock('');

    const [first, ...rest] = (await events()).slice(0, -before || undefined);
    expect(rest).toEqual([]);
    expect(first).toMatchObject({
      event_type: 'lock.request',
      action: 'lock.acquire',
      severity: 'INFO',
      extra: {
        resource_type: 'lock',
        resource_id: 'crane',
        request_id: expect.any(String),
        key_id: expect.any(String),
      },
    });
  });

  it('pages from the newest to the oldest', async () => {
    for (const resource of ['a', 'b', 'c', 'd', 'e']) await lock(resource);
    const seen: number[] = [];
    for (let cursor = ''; ;) {
      const { body } = await admin().get(`/api/v1/audit/events?limit=2&event_type=lock.request&cursor=${cursor}`);
      seen.push(...(body['items'] as Event[]).map(({ seq }) => seq));
      cursor = String(body['next_cursor']);
      if (cursor === '') break;
    }

    expect(seen).toHaveLength(5);
    expect(seen).toEqual([...seen].sort((a, b) => b - a));
  });

  it('filters by category, text and time', async () => {
    await lock('crane');
    await admin().post('/api/v1/topics', { name: 'job.audited', pool: 'default' });

    expect(new Set((await events('category=routine')).map(({ event_type }) => event_type))).toContain('lock.request');
    expect((await events('category=governance')).map(({ event_type }) => event_type)).not.toContain('lock.request');
    expect(await events('search=CRANE')).toHaveLength(1);
    expect(await events(`from=${Date.now() + 60_000}`)).toEqual([]);
    expect((await events(`to=${new Date(Date.now() + 60_000).toISOString()}`)).length).toBeGreaterThan(0);
  });

  it.each([
    ['cursor=x', 'INVALID_CURSOR'],
    ['limit=0', 'INVALID_LIMIT'],
    ['limit=many', 'INVALID_LIMIT'],
    ['from=soon', 'INVALID_FROM'],
    ['to=later', 'INVALID_TO'],
    ['from=20&to=10', 'INVALID_RANGE'],
    ['category=gossip', 'INVALID_CATEGORY'],
    [`search=${'x'.repeat(201)}`, 'INVALID_QUERY'],
  ])('400 for %s', async (query, code) => {
    expect(statusAndCode(await admin().get(`/api/v1/audit/events?${query}`))).toEqual({ status: 400, code });
  });

  it('shows a tenant its own chain only', async () => {
    await lock('crane');
    await lock('drill', api.as('other'));

    expect(
      (await events('event_type=lock.request', api.as('other'))).map(({ extra }) => extra?.['resource_id']),
    ).toEqual(['drill']);
    const denied = await api.as('other').get('/api/v1/audit/events?tenant=acme');
    expect(denied.status).toBe(403);
  });
});

describe('GET /api/v1/audit/verify', () => {
  const verify = async (query = '') => (await admin().get(`/api/v1/audit/verify?${query}`)).body;

  it('accepts an empty chain, and an unchanged one', async () => {
    expect(await verify()).toMatchObject({ status: 'ok', total_events: 0, first_seq: 0, last_seq: 0 });
    await submit();
    await lock('crane');

    const report = await verify();
    expect(report).toMatchObject({ status: 'ok', gaps: [], first_seq: 1 });
    expect(report['verified_events']).toBe(report['total_events']);
    expect(report['hmac_verified']).toBe(report['total_events']);
  });

  it('verifies a part of the chain', async () => {
    for (const resource of ['a', 'b', 'c', 'd']) await lock(resource);

    expect(await verify('limit=2')).toMatchObject({ status: 'ok', total_events: 2, first_seq: 3, last_seq: 4 });
    expect(await verify(`since=${Date.now() + 60_000}`)).toMatchObject({ status: 'ok', total_events: 0 });
    expect(statusAndCode(await admin().get('/api/v1/audit/verify?since=1&until=9999999999999'))).toEqual({
      status: 400,
      code: 'INVALID_RANGE',
    });
  });

  it('finds a cut tail by a checkpoint that was taken before', async () => {
    for (const resource of ['a', 'b', 'c', 'd']) await lock(resource);
    await admin().get('/api/v1/audit/events/4/proof');
    const { redis } = api.store;
    const all = await api.store.audit.range('acme', '-', '+', 10);
    await redis.xdel(keys.auditChain('acme'), ...all.slice(2).map(({ id }) => id));
    await redis.set(keys.auditHead('acme'), `2:${all[1]?.hash ?? ''}`);

    expect(await verify()).toMatchObject({ status: 'compromised', gaps: [{ at_seq: 3, type: 'checkpoint' }] });
  });
});

describe('proofs', () => {
  const bytes = (hex: unknown) => Buffer.from(String(hex), 'hex');

  it('show that an event is in the chain that a checkpoint signs, and that later checkpoints only add', async () => {
    for (const resource of ['a', 'b', 'c']) await lock(resource);
    const first = (await admin().get('/api/v1/audit/events/2/proof')).body as unknown as AuditProof;
    for (const resource of ['d', 'e', 'f', 'g']) await lock(resource);
    const second = (await admin().get('/api/v1/audit/events/7/proof')).body as unknown as AuditProof;
    const path = first.audit_path;

    expect(
      isIncluded(leafHash(first.event.event_hash), {
        index: first.leaf_index, size: first.tree_size, path: path.map(bytes), root: bytes(first.checkpoint.merkle_root),
      }), // prettier-ignore
    ).toBe(true);
    const { body } = await admin().get(`/api/v1/audit/consistency?first=${first.tree_size}`);
    expect(
      isConsistent(
        { size: first.tree_size, root: bytes(first.checkpoint.merkle_root) },
        { size: second.tree_size, root: bytes(second.checkpoint.merkle_root) },
        (body['proof'] as string[]).map(bytes),
      ),
    ).toBe(true);
    const checkpoints = (await admin().get('/api/v1/audit/checkpoints')).body;
    expect((checkpoints['items'] as { seq: number }[]).map(({ seq }) => seq)).toEqual([
      second.tree_size,
      first.tree_size,
    ]);
    expect(checkpoints['public_key']).toContain('BEGIN PUBLIC KEY');
  });

  it('404 without the event or the checkpoint', async () => {
    await lock('a');

    expect(statusAndCode(await admin().get('/api/v1/audit/events/99/proof'))).toMatchObject({ status: 404 });
    expect(statusAndCode(await admin().get('/api/v1/audit/events/1/proof?tree_size=50'))).toMatchObject({
      status: 404,
    });
    expect(statusAndCode(await admin().get('/api/v1/audit/consistency?first=50'))).toMatchObject({ status: 404 });
  });
});

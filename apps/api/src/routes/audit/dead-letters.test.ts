import { emptyHead, sealFacts } from '@svc/audit-chain';
import { keys } from '@svc/store';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';

const path = '/api/v1/audit/export/dead-letters';

describe('dead letters of the exporter of audit events', () => {
  let status = 200;
  const got: { seq: number }[] = [];
  const receiver = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      if (status === 200) got.push(...(JSON.parse(Buffer.concat(parts).toString()) as { seq: number }[]));
      res.writeHead(status).end();
    });
  });
  const env: Record<string, string> = { SVC_AUDIT_EXPORT_TYPE: 'webhook', SVC_AUDIT_EXPORT_WEBHOOK_URL: '' };
  beforeAll(async () => {
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    env['SVC_AUDIT_EXPORT_WEBHOOK_URL'] = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  });
  afterAll(() => new Promise((done) => receiver.close(done)));
  const api = useApi({ env });
  beforeEach(async () => {
    await api.license('enterprise');
    got.splice(0);
    status = 200;
  });

  /** Puts an event aside as the exporter does. */
  async function bury(tenant = 'acme', reason = 'the receiver answered 422'): Promise<string> {
    const timestamp = new Date().toISOString();
    const fact = { tenant_id: tenant, timestamp, event_type: 'system.test', action: 'act', severity: 'INFO' } as const;
    const [event] = sealFacts([fact], emptyHead);
    const fields = { tenant, id: '1-1', reason, e: event?.text ?? '', h: event?.hash ?? '', m: '' };
    const key = keys.auditExportDead('webhook');
    return (await api.store.redis.xadd(key, '*', ...Object.entries(fields).flat())) ?? '';
  }
  const list = async (query = '', who: Who = 'admin') =>
    (await api.as(who).get(path + query)).body as { items: { id: string; tenant: string }[]; next_cursor: string };
  const ids = async (query = '', who: Who = 'admin') => (await list(query, who)).items.map(({ id }) => id);
  const retry = (id: string, who: Who = 'admin') => api.as(who).post(`${path}/${id}/retry`);
  const discard = (id: string, who: Who = 'admin') => api.as(who).del(`${path}/${id}`);
  const recorded = async () => {
    const { body } = await api.as('admin').get('/api/v1/audit/events?event_type=audit.export');
    return (body['items'] as { action: string; extra: object }[]).map(({ action, extra }) => ({ action, extra }));
  };
  const missing = { status: 404, code: 'audit_dead_letter_not_found' };

  it('200: newest first in pages, with the event and the reason; of other tenants only with access to them', async () => {
    const [first, second, third] = [await bury(), await bury('globex'), await bury()];

    const page = await list('?limit=1');

    expect(page).toMatchObject({
      items: [
        {
          ...{ id: third, tenant: 'acme', reason: 'the receiver answered 422', at: expect.any(String) },
          event: { seq: 1, event_type: 'system.test', action: 'act' },
        },
      ],
      next_cursor: third,
    });
    expect(await list(`?limit=1&cursor=${third}`)).toMatchObject({ items: [{ id: first }], next_cursor: '' });
    expect(await ids('', 'everywhere')).toEqual([third, second, first]);
    expect(await ids('?tenant=globex', 'everywhere')).toEqual([second]);
    const foreign = await api.as('admin').get(`${path}?tenant=globex`);
    expect(statusAndCode(foreign)).toEqual({ status: 403, code: 'tenant_access_denied' });
  });

  it('200: a retried event leaves the list once the receiver accepts it, and that is recorded', async () => {
    const id = await bury();
    status = 422;

    const refused = await retry(id);
    const kept = await ids();
    status = 200;
    const accepted = await retry(id);

    expect(refused.body).toEqual({ success: false, message: 'the receiver answered 422' });
    expect(kept).toEqual([id]);
    expect(accepted.body).toEqual({ success: true, message: 'the webhook receiver accepted the event' });
    expect([got.map(({ seq }) => seq), await ids()]).toEqual([[1], []]);
    const extra = expect.objectContaining({ resource_id: id, event_id: '1-1', tenant: 'acme' }) as object;
    expect(await recorded()).toEqual([
      { action: 'audit.dead_letter_retry', extra },
      { action: 'audit.dead_letter_retry', extra },
    ]);
  });

  it('204: a discarded event is gone, once', async () => {
    const id = await bury();

    const answers = await Promise.all([discard(id), discard(id)]);

    expect(answers.map((answer) => answer.status).sort()).toEqual([204, 404]);
    expect([await ids(), got]).toEqual([[], []]);
    expect(await recorded()).toMatchObject([{ action: 'audit.dead_letter_discard', extra: { resource_id: id } }]);
  });

  it('404: unknown ones, and those of another tenant; 403: without the entitlement, and without audit.export', async () => {
    const [own, theirs] = [await bury(), await bury('globex')];

    for (const id of [theirs, '1-1'])
      for (const answer of [await retry(id), await discard(id)]) expect(statusAndCode(answer)).toEqual(missing);
    expect((await discard(own, 'operator')).status).toBe(403);
    api.license('community');
    expect(statusAndCode(await retry(own))).toEqual({ status: 403, code: 'tier_limit_exceeded' });
    expect(await ids()).toEqual([own]);
  });

  it('200: tokens of the time-stamp authority with the checkpoints that they sign, of the own tenant', async () => {
    const token = { at: '2026-01-01T00:00:00.000Z', token: Buffer.from('token').toString('base64') };
    for (const seq of [3, 5]) await api.store.audit.keepTimestamp('acme', seq, token);
    const read = async (query = '', who: Who = 'admin') => api.as(who).get(`/api/v1/audit/timestamps${query}`);

    expect((await read()).body).toEqual({ items: [{ seq: 5, ...token }, { seq: 3, ...token }] }); // prettier-ignore
    expect((await read('?before=5&limit=1')).body).toEqual({ items: [{ seq: 3, ...token }] });
    expect((await read('?tenant=acme', 'everywhere')).body).toMatchObject({ items: [{ seq: 5 }, { seq: 3 }] });
    expect(statusAndCode(await read('?tenant=globex'))).toEqual({ status: 403, code: 'tenant_access_denied' });
  });
});

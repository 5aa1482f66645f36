import { canonicalHash } from '@svc/json';
import { useApi } from '../../api.testing';
import type { HttpAnswer } from '../../caller.testing';
import { many } from '../evals/evals.testing';
import { ban } from '../policy/policy.testing';

type Event = Record<string, unknown> & { extra: Record<string, string> };

describe('the event of a write has the hashes of the content before and after', () => {
  const api = useApi();
  const admin = () => api.as('admin');
  const boss = () => api.as('boss');
  beforeEach(() => api.license('enterprise'));

  /** Hashes of the acts of a kind, oldest first. */
  const hashes = async (action: string, as = admin()) => {
    const { body } = await as.get(`/api/v1/audit/events?action=${action}`);
    const events = body['items'] as Event[];
    return events.map(({ extra }) => [extra['before_hash'], extra['after_hash']]).reverse();
  };
  const done = async (answer: Promise<HttpAnswer>) => {
    const { status, body } = await answer;
    expect({ status, body: status < 300 ? {} : body }).toEqual({ status: expect.any(Number), body: {} });
  };
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);

  it('a schema', async () => {
    const schema = (type: string) => ({ type });
    for (const type of ['string', 'number']) {
      await done(admin().post('/api/v1/schemas', { id: 'order', schema: schema(type) }));
    }
    await done(admin().del('/api/v1/schemas/order'));

    const [text, number] = ['string', 'number'].map((type) => canonicalHash(schema(type)));
    expect(await hashes('schema.put')).toEqual([
      [undefined, text],
      [text, number],
    ]);
    expect(await hashes('schema.remove')).toEqual([[number, undefined]]);
  });

  it('a config document, and pools and topics, which are part of one', async () => {
    const put = (scope_id: string, max_retries: number) =>
      boss().put('/api/v1/config', { scope: 'org', scope_id, data: { retry: { max_retries } } });
    await done(put('acme', 1));
    await done(put('acme', 2));
    await done(boss().put('/api/v1/pools/held', {}));
    await done(boss().send('PATCH', '/api/v1/pools/held', JSON.stringify({ description: 'more' })));
    for (const name of ['job.one', 'job.two']) await done(boss().post('/api/v1/topics', { name, pool: 'held' }));

    const [first, second] = [1, 2].map((max_retries) => canonicalHash({ retry: { max_retries } }));
    expect(await hashes('config.put', boss())).toEqual([
      [undefined, first],
      [first, second],
    ]);
    const [[, created] = []] = await hashes('pool.create', boss());
    expect(created).toEqual(sha256);
    expect(await hashes('pool.change', boss())).toEqual([[created, sha256]]);
    const [one, two] = await hashes('topic.register', boss());
    expect([one?.[1], two]).toEqual([sha256, [one?.[1], sha256]]);
  });

  it('a policy bundle, without the bundles that did not change', async () => {
    const put = (id: string, topic: string) =>
      boss().put(`/api/v1/policy/bundles/${id}`, { content: ban('no', topic), enabled: true });
    await done(put('secops~a', 'job.a'));
    await done(put('secops~b', 'job.b'));
    await done(put('secops~a', 'job.c'));
    await done(boss().del('/api/v1/policy/bundles/secops~a'));

    const [a, b, changed] = await hashes('bundle.put', boss());
    expect([a, b, changed]).toEqual([
      [undefined, sha256],
      [undefined, sha256],
      [a?.[1], sha256],
    ]);
    expect(await hashes('bundle.remove', boss())).toEqual([[changed?.[1], undefined]]);
  });

  it('a shadow policy', async () => {
    const path = '/api/v1/policy/shadows/secops~a';
    await done(boss().put('/api/v1/policy/bundles/secops~a', { content: ban('live', 'job.a') }));
    for (const topic of ['job.a', 'job.b']) await done(boss().put(path, { content: ban('x', topic) }));
    await done(boss().del(path));

    const [first, second] = await hashes('shadow.put', boss());
    expect([first, second]).toEqual([
      [undefined, sha256],
      [first?.[1], sha256],
    ]);
    expect(await hashes('shadow.remove', boss())).toEqual([[second?.[1], undefined]]);
  });

  it('a workflow and its schedules', async () => {
    const flow = (name: string) => ({ id: 'flow', name, steps: { one: { topic: 'job.default' } } });
    const schedule = (cron: string) => ({ cron });
    for (const name of ['First', 'Second']) await done(admin().post('/api/v1/workflows', flow(name)));
    const added = await admin().post('/api/v1/workflows/flow/schedules', schedule('0 6 * * *'));
    const path = `/api/v1/workflows/flow/schedules/${String(added.body['id'])}`;
    await done(admin().put(path, schedule('0 7 * * *')));
    await done(admin().del(path));
    await done(admin().del('/api/v1/workflows/flow'));

    const [, second] = await hashes('workflow.put');
    expect(await hashes('workflow.put')).toEqual([[undefined, sha256], second]);
    expect(second).toEqual([(await hashes('workflow.put'))[0]?.[1], sha256]);
    expect(await hashes('workflow.remove')).toEqual([[second?.[1], undefined]]);
    const [[, start] = []] = await hashes('schedule.add');
    expect(await hashes('schedule.put')).toEqual([[start, sha256]]);
    const [[, last] = []] = await hashes('schedule.put');
    expect(await hashes('schedule.remove')).toEqual([[last, undefined]]);
  });

  it('a worker credential, without its token', async () => {
    const put = (pool: string) =>
      admin().post('/api/v1/workers/credentials', { worker_id: 'w1', allowed_pools: [pool] });
    await done(put('demo'));
    await done(put('gpu'));
    await done(admin().del('/api/v1/workers/credentials/w1'));

    const [first, second] = await hashes('worker.credential_issued');
    expect([first, second]).toEqual([
      [undefined, sha256],
      [first?.[1], sha256],
    ]);
    expect(await hashes('worker.credential_revoked')).toEqual([[second?.[1], undefined]]);
  });

  it('an evaluation dataset: the hash that it shows', async () => {
    const { body } = await admin().post('/api/v1/evals/datasets', { name: 'set', entries: many(1) });
    await done(admin().del(`/api/v1/evals/datasets/${String(body['id'])}?force=true`));

    expect(await hashes('eval_dataset.create')).toEqual([[undefined, body['content_hash']]]);
    expect(await hashes('eval_dataset.remove')).toEqual([[body['content_hash'], undefined]]);
  });
});

import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { createRunClient } from './given-runs.testing';

const api = useApi();
const runs = createRunClient(api);
const wait = { pause: { type: 'delay', delay_sec: 600 } };
const nowSec = () => Math.floor(Date.now() / 1_000);

describe('lists of runs', () => {
  beforeEach(() => runs.workflow(wait));

  it('200: last changed first, each with its input, for one tenant', async () => {
    await runs.workflow(wait, { id: 'theirs' }, 'other');
    await runs.run({}, { workflow: 'theirs', who: 'other' });
    const [a, b] = [await runs.run({ n: 1 }), await runs.run({ n: 2 })];

    const { ids, items, next } = await runs.list();

    expect([ids, next]).toEqual([[b, a], null]);
    expect(items[0]).toMatchObject({ input: { n: 2 }, status: 'pending', steps: {} });
    expect(items[0]).not.toHaveProperty('timers');
    expect((await runs.list('?org_id=globex')).status).toBe(403);
  });

  it('200: filtered by status in any case, workflow, team and time', async () => {
    await runs.workflow(wait, { id: 'other' });
    const a = await runs.run({}, { query: '?team_id=red' });
    const b = await runs.run({}, { workflow: 'other' });
    const ids = async (query: string) => (await runs.list(query)).ids;

    expect(await ids('?status=PENDING')).toEqual([b, a]);
    expect(await ids('?status=succeeded')).toEqual([]);
    expect(await ids('?status=nonsense')).toEqual([]);
    expect(await ids('?workflow_id=other')).toEqual([b]);
    expect(await ids('?team_id=red')).toEqual([a]);
    expect(await ids(`?updated_after=${nowSec() + 60}`)).toEqual([]);
    expect(await ids(`?updated_before=${nowSec() - 60}`)).toEqual([]);
    expect(await ids(`?updated_after=${(nowSec() - 60) * 1_000}&updated_before=${nowSec() + 60}`)).toEqual([b, a]);
  });

  it('200: pages continue where the last one ended, and skip no run', async () => {
    const started: string[] = [];
    for (let i = 0; i < 5; i++) started.push(await runs.run());

    const seen: unknown[] = [];
    let query = '?limit=2';
    for (;;) {
      const { ids, next } = await runs.list(query);
      seen.push(...ids);
      if (next === null) break;
      query = `?limit=2&cursor=${next}`;
    }
    expect(seen).toEqual(started.reverse());
  });

  it('200: of one workflow, last started first; 404 for an unknown workflow', async () => {
    const [a, b] = [await runs.run(), await runs.run()];
    const of = (id: string, who: 'viewer' | 'other' = 'viewer') => api.as(who).get(`/api/v1/workflows/${id}/runs`);

    expect(((await of('intake')).body as unknown as { id: string }[]).map(({ id }) => id)).toEqual([b, a]);
    expect(statusAndCode(await of('none'))).toEqual({ status: 404, code: 'workflow_not_found' });
    expect((await of('intake', 'other')).status).toBe(403);
  });

  it.each(['', '/timeline', '/chat'])('404 and 403: %s of an unknown run, or of another tenant', async (path) => {
    const id = await runs.run();
    const of = (run: string, who: 'viewer' | 'other') => api.as(who).get(`/api/v1/workflow-runs/${run}${path}`);

    expect(statusAndCode(await of('none', 'viewer'))).toEqual({ status: 404, code: 'run_not_found' });
    expect(statusAndCode(await of(id, 'other'))).toEqual({ status: 403, code: 'tenant_access_denied' });
  });
});

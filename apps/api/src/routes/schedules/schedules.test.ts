import { maxSchedulesPerWorkflow } from '@svc/store';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const intake = {
  id: 'intake',
  name: 'Intake',
  input_schema: { type: 'object', properties: { crates: { type: 'integer' } }, required: ['crates'] },
  steps: { weigh: { topic: 'job.default' } },
};
const at = '/api/v1/workflows/intake/schedules';
const hourly = { cron: '0 * * * *', input: { crates: 2 } };
const add = (body: object = hourly, as = api.as('admin')) => as.post(at, body);
const added = async (body: object = hourly) => String((await add(body)).body['id']);
const put = (id: string, body: object, as = api.as('admin')) => as.send('PUT', `${at}/${id}`, JSON.stringify(body));
const get = (path = '', as = api.as('viewer')) => as.get(`${at}${path}`);
const list = async () => (await get()).body as unknown as Record<string, unknown>[];

beforeEach(async () => {
  await api.as('admin').post('/api/v1/workflows', intake);
});

describe('POST /api/v1/workflows/:id/schedules', () => {
  it('201: as sent, with defaults and the next starts', async () => {
    const { status, body } = await add({ ...hourly, name: 'Each hour', time_zone: 'Europe/Berlin' });

    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...hourly,
      name: 'Each hour',
      time_zone: 'Europe/Berlin',
      overlap: 'skip',
      misfire: 'run_once',
      paused: false,
      workflow_id: 'intake',
    });
    expect(body['next_times']).toHaveLength(5);
    expect(body['next_times']).toEqual(
      (body['next_times'] as string[]).map(() => expect.stringMatching(/:00:00\.000Z$/)),
    );
    expect((await get(`/${String(body['id'])}`)).body).toEqual({ ...body, next_times: expect.anything() as unknown });
  });

  it('201: a paused schedule has no next starts', async () => {
    expect((await add({ ...hourly, paused: true })).body).toMatchObject({ paused: true, next_times: [] });
  });

  it.each([
    [{ cron: '61 * * * *' }, /cron cannot be read: .*got value 61/],
    [{ cron: '0 0 31 2 *' }, /cron cannot be read: .*day of month/],
    [{ cron: '0 0 31 4,6 *' }, /cron fits no day there is/],
    [{ cron: '@daily' }, /needs five/],
    [{ cron: '0 9 * * *', time_zone: 'Europe/Berlni' }, /did you mean Europe\/Berlin/],
    [{ interval_sec: 60, end_at: '2020-01-01T00:00:00Z' }, /no time is to come before end_at/],
  ])('400: %j', async (fields, message) => {
    const answer = await add({ input: { crates: 1 }, ...fields });

    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_schedule', error: expect.stringMatching(message) as unknown } }); // prettier-ignore
    expect(await list()).toEqual([]);
  });

  it('400: neither or both of cron and interval_sec', async () => {
    expect((await add({ input: { crates: 1 } })).status).toBe(400);
    expect((await add({ ...hourly, interval_sec: 60 })).status).toBe(400);
  });

  it('400: an input that its runs would reject', async () => {
    const answer = await add({ ...hourly, input: { crates: 'two' } });

    expect(answer).toMatchObject({ status: 400, body: { code: 'input_schema_validation_failed' } });
  });

  it('400: more schedules than a workflow may have', async () => {
    await Promise.all(Array.from({ length: maxSchedulesPerWorkflow }, () => add()));

    expect(await add()).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/has 100 schedules/) as unknown },
    });
    expect(await list()).toHaveLength(maxSchedulesPerWorkflow);
  });
});

describe('reading', () => {
  it('the list has the oldest first', async () => {
    const ids = [await added(), await added(), await added()];

    expect((await list()).map(({ id }) => id)).toEqual(ids);
  });

  it('?next sets the number of next starts', async () => {
    const id = await added({ interval_sec: 90, input: { crates: 1 } });

    const times = ((await get(`/${id}?next=100`)).body['next_times'] as string[]).map((time) => Date.parse(time));
    expect(times).toHaveLength(100);
    expect(times.slice(1).every((time, i) => time - (times[i] ?? 0) === 90_000)).toBe(true);
    expect((await get(`/${id}?next=101`)).body['next_times']).toHaveLength(100);
  });

  it('404: an unknown schedule, or one of another workflow', async () => {
    const id = await added();
    await api.as('admin').post('/api/v1/workflows', { ...intake, id: 'other' });

    expect(statusAndCode(await get('/none'))).toMatchObject({ status: 404 });
    expect((await api.as('viewer').get(`/api/v1/workflows/other/schedules/${id}`)).status).toBe(404);
    expect((await api.as('admin').del(`/api/v1/workflows/other/schedules/${id}`)).status).toBe(404);
    expect((await api.as('viewer').get('/api/v1/workflows/none/schedules')).status).toBe(404);
  });

  it('403: schedules of another tenant are neither readable nor writable', async () => {
    const id = await added();
    const other = api.as('other');
    const answers = await Promise.all([
      get('', other),
      get(`/${id}`, other),
      add(hourly, other),
      put(id, hourly, other),
      other.post(`${at}/${id}/pause`),
      other.post(`${at}/${id}/resume`),
      other.del(`${at}/${id}`),
    ]);

    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(403));
    expect(await list()).toHaveLength(1);
  });
});

describe('changing', () => {
  it('PUT replaces the whole schedule and keeps its creator', async () => {
    const before = (await add({ ...hourly, name: 'Each hour', overlap: 'queue' })).body;

    const { status, body } = await put(String(before['id']), {
      interval_sec: 60,
      input: { crates: 3 },
    });

    expect(status).toBe(200);
    expect(body).toMatchObject({ id: before['id'], interval_sec: 60, input: { crates: 3 }, name: '', overlap: 'skip' });
    expect(body).not.toHaveProperty('cron');
    expect([body['created_at'], body['created_by']]).toEqual([before['created_at'], before['created_by']]);
    expect((await put(String(before['id']), { cron: 'x', input: {} })).status).toBe(400);
    expect((await get(`/${String(before['id'])}`)).body).toEqual({ ...body, next_times: expect.anything() as unknown });
  });

  it('pause and resume are idempotent', async () => {
    const id = await added();
    const post = (act: string) => api.as('admin').post(`${at}/${id}/${act}`);

    for (let i = 0; i < 2; i++) expect((await post('pause')).body).toMatchObject({ paused: true, next_times: [] });
    for (let i = 0; i < 2; i++) expect((await post('resume')).body['next_times']).toHaveLength(5);
  });

  it('of an agent names it, and no other agent changes or resumes it', async () => {
    await api.license('enterprise');
    const create = async () =>
      String((await api.as('admin').post('/api/v1/agents', { name: 'a', owner: 'ann', risk_tier: 'low' })).body['id']);
    const [own, other] = [await create(), await create()];
    const by = (id: string) => ({ 'X-Agent-Id': id });
    const { status, body } = await api.as('admin').post(at, hourly, by(own));
    const path = `${at}/${String(body['id'])}`;
    const denied = { status: 403, code: 'access_denied' };

    expect([status, body['agent_id']]).toEqual([201, own]);
    expect(statusAndCode(await api.as('admin').post(`${path}/resume`, {}, by(other)))).toEqual(denied);
    expect(statusAndCode(await api.as('operator').post(at, hourly, by(own)))).toEqual(denied);
    expect((await put(String(body['id']), { ...hourly, name: 'n' })).body).toMatchObject({ name: 'n', agent_id: own });
    await api.as('admin').put(`/api/v1/agents/${own}`, { status: 'suspended' });
    expect(statusAndCode(await api.as('admin').post(at, hourly, by(own)))).toEqual({ status: 403, code: 'agent_denied' }); // prettier-ignore
    expect((await api.as('admin').post(`${path}/pause`, {}, by(other))).status).toBe(200);
  });

  it('concurrent changes are each applied once, and none fails', async () => {
    const id = await added();
    const acts = ['pause', 'resume', 'pause', 'resume'];

    const answers = await Promise.all(acts.map((act) => api.as('admin').post(`${at}/${id}/${act}`)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('DELETE: 204; deleting the workflow deletes its schedules', async () => {
    const id = await added();
    await added();

    expect((await api.as('admin').del(`${at}/${id}`)).status).toBe(204);
    expect((await api.as('admin').del(`${at}/${id}`)).status).toBe(404);
    expect(await list()).toHaveLength(1);
    await api.as('admin').del('/api/v1/workflows/intake');
    await api.as('admin').post('/api/v1/workflows', intake);
    expect(await list()).toEqual([]);
  });
});

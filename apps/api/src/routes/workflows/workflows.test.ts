import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const put = (body: object, as = api.as('admin')) => as.post('/api/v1/workflows', body);
const get = (path = '', as = api.as('viewer')) => as.get(`/api/v1/workflows${path}`);
const remove = (id: string) => api.as('admin').del(`/api/v1/workflows/${id}`);

const intake = {
  id: 'intake',
  name: 'Intake',
  steps: {
    weigh: { topic: 'job.default', input: { crate: '${input.crate}' } },
    notify: { type: 'notify', depends_on: ['weigh'], input: { message: 'weighed ${steps.weigh.output}' } },
  },
};

describe('POST /api/v1/workflows', () => {
  it('201: a workflow is stored as sent, with the fields that the server sets', async () => {
    expect((await put(intake)).status).toBe(201);

    expect((await get('/intake')).body).toMatchObject({
      ...intake,
      org_id: 'acme',
      timeout_sec: 0,
      revision: 1,
      updated_at: expect.stringMatching(/^20\d\d-/) as unknown,
    });
  });

  it('201: an id is generated if none is given', async () => {
    const { body } = await put({ ...intake, id: '' });

    expect((await get(`/${String(body['id'])}`)).body).toMatchObject({ name: 'Intake' });
  });

  it('201: omitted or empty fields are kept, steps are replaced as a whole, an empty override is cleared', async () => {
    const override = 'version: "1"\ntier: workflow\nselector: {workflow_id: intake}\nrules: []\n';
    await put({ ...intake, description: 'as it was', timeout_sec: 60, policy_override: override });

    await put({ id: 'intake', name: 'Renamed', description: '', timeout_sec: 0, policy_override: '' });
    const renamed = (await get('/intake')).body;
    expect(renamed).toMatchObject({
      ...intake,
      name: 'Renamed',
      description: 'as it was',
      timeout_sec: 60,
      revision: 2,
    });
    expect(renamed).not.toHaveProperty('policy_override');

    await put({ id: 'intake', steps: { only: { type: 'delay', delay_sec: 1 } } });
    expect((await get('/intake')).body['steps']).toEqual({ only: { id: 'only', type: 'delay', delay_sec: 1 } });
  });

  it('400: all violations are reported at once, each with its path', async () => {
    const answer = await put({
      id: 'bad',
      name: 'Bad',
      policy_override: 'rules: 7',
      steps: {
        a: { depends_on: ['b'] },
        b: { depends_on: ['a'] },
        c: { type: 'condition', condition: 'input.x >' },
        d: { topics: 'job.default' },
        e: { depends_on: ['nowhere'] },
      },
    });

    expect(answer).toMatchObject({ status: 400, body: { error: 'the workflow is not valid' } });
    const violations = answer.body['violations'] as { path: string; message: string }[];
    const of = (path: string) => violations.filter((one) => one.path.startsWith(path)).map(({ message }) => message);
    expect(of('steps.a').concat(of('steps.b')).join()).toMatch(/cycle|a → b|b → a/);
    expect(of('steps.c.condition')).toHaveLength(1);
    expect(of('steps.d.topics').join()).toMatch(/topic/);
    expect(of('steps.e.depends_on').join()).toMatch(/nowhere/);
    expect(of('policy_override')).not.toEqual([]);
    expect((await get('/bad')).status).toBe(404);
  });

  it('400: a single violation is included in the error message', async () => {
    const { body } = await put({ ...intake, steps: { a: { type: 'delay' } } });

    expect(body['error']).toMatch(/^steps\.a/);
  });

  it('403: a workflow of another tenant is neither writable nor readable', async () => {
    await put(intake);

    expect((await put({ ...intake, name: 'Taken' }, api.as('other'))).status).toBe(403);
    expect((await get('/intake', api.as('other'))).status).toBe(403);
    expect((await get('', api.as('other'))).body).toEqual([]);
    expect((await get('/intake')).body).toMatchObject({ name: 'Intake', revision: 1 });
  });

  it('concurrent writes each create one revision, and none is lost', async () => {
    await put(intake);

    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => put({ id: 'intake', name: `Name ${i}` })));

    const done = answers.filter(({ status }) => status === 201).length;
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(done).toBeGreaterThan(0);
    expect((await get('/intake')).body['revision']).toBe(1 + done);
  });
});

describe('a returned definition', () => {
  const stepIds = (body: Record<string, unknown>) =>
    Object.entries(body['steps'] as Record<string, { id?: string }>).map(([key, { id }]) => [key, id]);
  const ids = [
    ['weigh', 'weigh'],
    ['notify', 'notify'],
  ];

  it('contains the id in each step, in every response', async () => {
    await put(intake);

    expect(stepIds((await get('/intake')).body)).toEqual(ids);
    expect(stepIds((await get('/intake/versions/1')).body)).toEqual(ids);
    const [listed] = (await get()).body as unknown as Record<string, unknown>[];
    expect(stepIds(listed ?? {})).toEqual(ids);
  });

  it('201: an unchanged write creates no new revision', async () => {
    await put(intake);

    expect((await put((await get('/intake')).body)).status).toBe(201);

    expect((await get('/intake')).body['revision']).toBe(1);
  });
});

describe('created_by', () => {
  it('is the caller, regardless of the name in the body, in the workflow, its revisions and its policy', async () => {
    const policy_override = 'version: "1"\ntier: workflow\nselector: {workflow_id: intake}\nrules: []\n';
    await put({ ...intake, created_by: 'bob', policy_override });
    await put({ id: 'intake', name: 'Later', created_by: 'zoe' }, api.as('boss'));

    expect((await get('/intake')).body['created_by']).toBe('ann');
    expect((await get('/intake/versions')).body).toMatchObject([{ created_by: 'bob' }, { created_by: 'ann' }]);
    const bundle = await api.as('admin').get('/api/v1/policy/bundles/workflow~intake~policy');
    expect(bundle.body['author']).toBe('ann');
  });

  it('is the name in the body for a credential of all tenants', async () => {
    await put({ ...intake, created_by: 'bob' }, api.as('everywhere'));

    expect((await get('/intake')).body['created_by']).toBe('bob');
  });
});

describe('revisions', () => {
  it('are immutable', async () => {
    await put(intake);
    await put({ id: 'intake', name: 'Later' });

    expect((await get('/intake/versions')).body).toMatchObject([
      { revision: 2, name: 'Later', current: true, steps: 2 },
      { revision: 1, name: 'Intake', current: false, steps: 2 },
    ]);
    expect((await get('/intake/versions/1')).body).toMatchObject({ name: 'Intake', revision: 1 });
    expect((await get('/intake/versions/3')).status).toBe(404);
  });

  it('a write without changes creates none', async () => {
    await put(intake);
    await put({ ...intake, steps: { notify: intake.steps.notify, weigh: intake.steps.weigh } });

    expect((await get('/intake')).body['revision']).toBe(1);
  });
});

describe('GET and DELETE', () => {
  it('the list is sorted, last changed first', async () => {
    for (const id of ['a', 'b', 'c']) await put({ ...intake, id });
    await put({ id: 'a', name: 'Again' });

    const ids = async () => ((await get()).body as unknown as { id: string }[]).map(({ id }) => id);
    expect(await ids()).toEqual(['a', 'c', 'b']);
    expect((await get('?org_id=other')).status).toBe(403);
  });

  it('204; 404 for an unknown workflow', async () => {
    await put(intake);

    expect((await remove('intake')).status).toBe(204);
    expect((await get('/intake')).status).toBe(404);
    expect((await get()).body).toEqual([]);
    expect(statusAndCode(await remove('intake'))).toMatchObject({ status: 404 });
  });
});

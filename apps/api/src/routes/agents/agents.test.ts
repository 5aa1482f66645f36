import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';

const path = '/api/v1/agents';
const scope = { allowed_topics: ['job.*'], allowed_pools: ['*'], allowed_tools: ['mail.*'] };

describe('agents', () => {
  const api = useApi();
  beforeEach(() => api.license('enterprise'));
  const create = (body: object = {}, who: Who = 'admin') =>
    api.as(who).post(path, { name: 'mailer', owner: 'uma', risk_tier: 'low', ...body });
  const created = async (body: object = {}, who: Who = 'admin') => String((await create(body, who)).body['id']);
  const change = (id: string, body: object, who: Who = 'admin') => api.as(who).put(`${path}/${id}`, body);
  const listed = async (query = '', who: Who = 'admin') =>
    (await api.as(who).get(path + query)).body as { items: Record<string, unknown>[]; cursor?: string };
  const recorded = async (type: string) =>
    ((await api.as('admin').get(`/api/v1/audit/events?event_type=${type}`)).body['items'] as Record<string, unknown>[]).map(
      ({ action, agent_id, severity, reason, extra }) => ({ action, agent_id, severity, reason, extra }),
    ); // prettier-ignore

  it('201, 200: an agent is registered, read, changed and revoked, and each change is recorded', async () => {
    const answer = await create({ description: 'writes mail', team: 'ops', ...scope });
    const id = String(answer.body['id']);

    expect(answer).toMatchObject({ status: 201, body: { name: 'mailer', owner: 'uma', status: 'active', ...scope } });
    expect(answer.body).toMatchObject({ entitlements: [], data_classifications: [], allowed_servers: [] });
    expect((await api.as('admin').get(`${path}/${id}`)).body).toEqual(answer.body);

    const changed = await change(id, { name: '', team: 'sales', allowed_tools: [], risk_tier: '' });
    expect(changed).toMatchObject({ status: 200, body: { name: 'mailer', team: 'sales', allowed_tools: [], risk_tier: 'low' } });
    expect((await api.as('admin').del(`${path}/${id}`)).status).toBe(204);
    expect((await api.as('admin').get(`${path}/${id}`)).body).toMatchObject({ status: 'revoked', team: 'sales' });
    expect(await recorded('agent_identity_change')).toMatchObject([
      { action: 'agent.revoked', agent_id: id, severity: 'HIGH', extra: { open_jobs: '0', status: 'revoked' } },
      { action: 'agent.updated', agent_id: id, severity: 'MEDIUM', extra: { changed: 'allowed_tools team' } },
      { action: 'agent.created', agent_id: id, severity: 'MEDIUM', extra: { owner: 'uma', resource_id: id } },
    ]);
  }); // prettier-ignore

  it('400: a body that is not valid, with the code of agents', async () => {
    for (const body of [{ name: '' }, { risk_tier: 'extreme' }, { status: 'gone' }, { allowed_tools: ['x'.repeat(257)] }, { allowed_topics: 'all' }, { allowed_pools: Array(101).fill('p') }])
      expect(statusAndCode(await create(body))).toEqual({ status: 400, code: 'AGENT_REQUEST_INVALID' });
    expect((await create({ surprise: 1 })).status).toBe(400);
    expect(statusAndCode(await api.as('admin').get(`${path}?limit=0`))).toEqual({ status: 400, code: 'AGENT_REQUEST_INVALID' });
    expect(statusAndCode(await api.as('admin').get(`${path}?cursor=x`))).toEqual({ status: 400, code: 'AGENT_REQUEST_INVALID' });
  }); // prettier-ignore

  it('204: an agent whose texts are no valid Unicode is registered and revoked', async () => {
    const id = await created({ name: 'a\ud800b', owner: '\udfff', description: '\u0000' });

    expect((await api.as('admin').del(`${path}/${id}`)).status).toBe(204);
  });

  it('400: a revoked agent stays revoked', async () => {
    const id = await created();
    await api.as('admin').del(`${path}/${id}`);

    expect(statusAndCode(await change(id, { status: 'active' }))).toEqual({
      status: 400,
      code: 'AGENT_REQUEST_INVALID',
    });
    expect((await api.as('admin').del(`${path}/${id}`)).status).toBe(204);
  });

  it('200: lists page by page, newest first, and filters', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift(await created({ name: `a${i}`, team: i % 2 ? 'odd' : 'even' }));
    await change(ids[0] ?? '', { status: 'suspended' });

    const pages: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page = await listed(`?limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(...page.items.map((agent) => String(agent['id'])));
      cursor = page.cursor;
    }

    expect(pages).toEqual(ids);
    expect((await listed('?team=odd')).items.map(({ name }) => name)).toEqual(['a3', 'a1']);
    expect((await listed('?status=suspended')).items.map(({ name }) => name)).toEqual(['a4']);
    expect((await listed('?risk_tier=critical')).items).toEqual([]);
  });

  it('404: agents of other tenants do not exist', async () => {
    const id = await created();

    for (const rest of ['', '/stats', '/denied-events'])
      expect(statusAndCode(await api.as('other').get(`${path}/${id}${rest}`))).toEqual({
        status: 404,
        code: 'AGENT_NOT_FOUND',
      });
    expect(statusAndCode(await api.as('other').get(`${path}/${id}/tools`))).toEqual({
      status: 404,
      code: 'MCP_AGENT_IDENTITY_NOT_FOUND',
    });
    expect((await change(id, { name: 'theirs' }, 'other')).status).toBe(404);
    expect((await api.as('other').del(`${path}/${id}`)).status).toBe(404);
    expect((await listed('', 'other')).items).toEqual([]);
  });

  it('concurrent changes of different fields are all kept', async () => {
    const id = await created();

    const answers = await Promise.all([
      change(id, { team: 'a' }),
      change(id, { description: 'b' }),
      change(id, { risk_tier: 'high' }),
      change(id, { allowed_tools: ['c'] }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await api.as('admin').get(`${path}/${id}`)).body).toMatchObject({
      ...{ team: 'a', description: 'b', risk_tier: 'high', allowed_tools: ['c'] },
    });
  });

  it('403: without the entitlement, on every route', async () => {
    const id = await created();
    api.license('team');
    const as = api.as('admin');

    const answers = [
      await create(),
      await change(id, {}),
      await as.del(`${path}/${id}`),
      ...(await Promise.all(['', `/${id}`, `/${id}/stats`, `/${id}/tools`, `/${id}/denied-events`].map((rest) => as.get(path + rest)))),
    ];

    for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { code: 'tier_limit_exceeded', limit: 'agent_identity', current: 0, allowed: 0 } });
  }); // prettier-ignore

  it('200: the tools of an agent, none while it is not active', async () => {
    const id = await created({ allowed_tools: ['b', 'a'], preapproved_mutating_tools: ['b'] });
    const tools = async () => (await api.as('admin').get(`${path}/${id}/tools`)).body;

    expect(await tools()).toEqual({
      tools: [
        { name: 'a', preapproved: false },
        { name: 'b', preapproved: true },
      ],
      agent_id: id,
      filtered: true,
    });
    await change(id, { status: 'suspended' });
    expect(await tools()).toMatchObject({ tools: [], note: 'the agent is suspended' });
  });

  describe('jobs of an agent', () => {
    const submit = (body: object, who: Who = 'user', agent = '') =>
      api.as(who).post('/api/v1/jobs', { prompt: 'x', ...body }, agent ? { 'X-Agent-Id': agent } : {});
    const denied = { status: 403, code: 'access_denied' };

    it('200: its owner and admins submit as it; the job shows it, and it is counted', async () => {
      const id = await created(scope);

      const answer = await submit({ labels: { agent_id: id } }, 'user', id);
      const second = await submit({}, 'boss', id);

      expect([answer.status, second.status]).toEqual([200, 200]);
      const job = (await api.as('admin').get(`/api/v1/jobs/${String(answer.body['job_id'])}`)).body;
      const { name, risk_tier } = (await api.as('admin').get(`${path}/${id}`)).body;
      expect(job).toMatchObject({
        agent_id: id,
        agent_name: name,
        agent_risk_tier: risk_tier,
        labels: { agent_id: id },
      });
      const stats = await api.as('admin').get(`${path}/${id}/stats`);
      expect(stats.body).toEqual({ agent_id: id, total_jobs_7d: 2, denied_7d: 0, last_active: expect.any(Number) });
      expect((await listed()).items[0]).toMatchObject({ last_active: stats.body['last_active'] });
    });

    it('403: no other caller, no agent of another tenant, no unknown agent, no label without it', async () => {
      const mine = await created(scope);
      const theirs = await created({ ...scope, owner: 'uma' }, 'other');

      expect(statusAndCode(await submit({}, 'operator', mine))).toEqual(denied);
      expect(statusAndCode(await submit({}, 'user', theirs))).toEqual(denied);
      expect(statusAndCode(await submit({}, 'admin', theirs))).toEqual(denied);
      expect(statusAndCode(await submit({}, 'admin', 'unknown'))).toEqual(denied);
      expect(statusAndCode(await submit({ labels: { agent_id: mine } }))).toEqual(denied);
      expect(statusAndCode(await submit({ labels: { agent_id: theirs } }, 'user', mine))).toEqual(denied);
      expect(await api.as('admin').get(`${path}/${mine}/denied-events`)).toMatchObject({ body: { events: [] } });
    });

    it.each([
      ['topic_not_in_allowed_list', { allowed_topics: ['job.other'] }, {}],
      ['topic_not_in_allowed_list', { allowed_topics: [] }, {}],
      ['tool_not_in_allowed_list', {}, { capability: 'shell.run' }],
      ['pool_not_in_allowed_list', { allowed_pools: ['elsewhere'] }, {}],
      ['pool_not_in_allowed_list', { allowed_pools: [] }, {}],
    ])('403 %s: a job outside of the scope is refused, listed and recorded', async (reason, limited, body) => {
      const id = await created({ ...scope, ...limited });

      const answer = await submit(body, 'user', id);

      expect(answer).toMatchObject({ status: 403, body: { code: 'agent_denied', sub_reason: reason, agent_id: id } });
      const tool = 'capability' in body ? body.capability : 'job.default';
      const { events } = (await api.as('admin').get(`${path}/${id}/denied-events`)).body as { events: object[] };
      expect(events).toEqual([
        { timestamp: expect.any(String), agent_id: id, tool_name: tool, sub_reason: reason, severity: 'HIGH' },
      ]);
      expect((await api.as('admin').get(`${path}/${id}/stats`)).body).toMatchObject({ total_jobs_7d: 0, denied_7d: 1 });
      expect(await recorded('agent.denied')).toMatchObject([{ agent_id: id, severity: 'HIGH', reason }]);
      expect((await api.as('admin').get('/api/v1/jobs')).body['items']).toEqual([]);
    });

    it('403: a suspended agent submits nothing until it is activated again', async () => {
      const id = await created(scope);
      await change(id, { status: 'suspended' });

      const refused = await submit({}, 'user', id);
      await change(id, { status: 'active' });

      expect(refused).toMatchObject({ status: 403, body: { code: 'agent_denied', sub_reason: 'agent_inactive' } });
      expect((await submit({}, 'user', id)).status).toBe(200);
    });

    it.each(['suspend', 'revoke'])(
      '%s: its open jobs are cancelled before the response, in one recorded act',
      async (how) => {
        const id = await created(scope);
        const jobs = await Promise.all([1, 2, 3].map(() => submit({}, 'user', id)));
        const other = await submit({});
        const readState = async ({ body }: (typeof jobs)[number]) =>
          (await api.store.jobs.load(String(body['job_id'])))?.state;

        if (how === 'suspend') await change(id, { status: 'suspended' });
        else await api.as('admin').del(`${path}/${id}`);

        expect(await Promise.all(jobs.map(readState))).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
        expect(await readState(other)).toBe('PENDING');
        const [act, ...rest] = await recorded('agent_identity_change');
        expect(act).toMatchObject({ severity: 'HIGH', extra: { open_jobs: '3', running_jobs: '0', held_jobs: '0' } });
        expect(rest).toMatchObject([{ action: 'agent.created' }]);
        await eventually(async () => {
          const cancels = (await api.packets()).filter((subject) => subject === 'sys.job.cancel');
          expect(cancels).toHaveLength(3);
        });
      },
    );

    it('the worker of an agent always submits as that agent', async () => {
      const id = await created({ ...scope, allowed_topics: ['job.demo.*'] });
      const other = await created({ ...scope, owner: 'uma' });
      const credential = { worker_id: 'uma', allowed_pools: ['demo'], agent_id: id };
      await api.as('admin').post('/api/v1/workers/credentials', credential);
      await eventually(async () => expect(await api.ctx.submit.agents.links.find('acme', 'uma')).toBe(id));

      expect(await submit({ topic: 'job.default' })).toMatchObject({ status: 403, body: { agent_id: id } });
      const answer = await submit({ topic: 'job.demo.echo', labels: { agent_id: id } });
      expect((await api.store.jobs.load(String(answer.body['job_id'])))?.request.agent_id).toBe(id);
      expect(statusAndCode(await submit({ topic: 'job.demo.echo' }, 'user', other))).toEqual(denied);
    });

    it('policy decides by the tier and the data of the agent', async () => {
      await api.policy(`version: '1'
default_decision: allow
rules: [{ id: no-risk, match: { agent_risk_tiers: [critical] }, decision: deny }, { id: no-pii, match: { agent_data_classifications: [pii] }, decision: deny }]`);
      const low = await created(scope);
      const critical = await created({ ...scope, risk_tier: 'critical' });
      const personal = await created({ ...scope, data_classifications: ['pii'] });

      const answers = [await submit({}, 'user', low), await submit({}, 'user', critical), await submit({}, 'user', personal)];

      await api.policy();
      expect(answers.map(({ status }) => status)).toEqual([200, 403, 403]);
      expect(answers[1]?.body).toMatchObject({ code: 'policy_denied' });
      expect((await api.as('admin').get(`${path}/${critical}/stats`)).body).toMatchObject({ total_jobs_7d: 1, denied_7d: 1 });
    }); // prettier-ignore
  });
});

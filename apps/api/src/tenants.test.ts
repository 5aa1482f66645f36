import { endpoints, type Endpoint } from '@svc/contract';
import { changeDocument } from '@svc/services';
import { useApi } from './api.testing';

const canary = 'canary-7f3a9c';

/** What the other tenant's caller is told, by what the endpoint declares. */
const answers = {
  tenant_access_denied: { status: 403, body: { code: 'tenant_access_denied' } },
  approval_forbidden: { status: 403, body: { code: 'approval_forbidden' } },
  absent: { status: 404 },
  nothing: { status: 200, body: [] },
};

describe('another tenant', () => {
  // Neither tenant runs the installation: callers of the default tenant manage the records of all tenants.
  const api = useApi({ env: { TENANT_ID: 'house' } });

  /** A tenant's belongings, each with the canary in it; what a path parameter may name of them. */
  async function plant() {
    const secret = {
      prompt: canary,
      labels: { [canary]: canary },
      context: { [canary]: canary },
      traceId: 'trace-acme',
      workerId: 'worker-acme',
      request: { team_id: canary, principal_id: canary, actor_id: canary },
    };
    const held = await api.given.job({ ...secret, state: 'APPROVAL_REQUIRED', safety: { reason: canary } });
    const done = await api.given.job({ ...secret, state: 'SUCCEEDED', result: { said: canary } });
    const failed = await api.given.job({ ...secret, state: 'FAILED' });
    const denied = await api.given.job({ ...secret, state: 'DENIED', safety: { remediations: [{ id: canary }] } });
    const { body } = await api.as('admin').post('/api/v1/artifacts', { content: canary, labels: { [canary]: canary } });
    await api.store.redis.set(`mem:${done}`, canary);
    const steps = { [canary]: { type: 'delay', delay_sec: 1 } };
    const rule = `{ id: ${canary}, match: { topics: [job.${canary}] }, decision: deny }`;
    const policy_override = `tier: workflow\nselector: { workflow_id: workflow-acme }\nrules: [${rule}]`;
    const workflow = { id: 'workflow-acme', name: canary, steps, policy_override };
    expect((await api.as('admin').post('/api/v1/workflows', workflow)).status).toBe(201);
    await api.as('everywhere').post('/api/v1/policy/bundles/snapshots', { note: 'all' });
    const snapshots = await api.as('everywhere').get('/api/v1/policy/bundles/snapshots');
    const [{ id: snapshot }] = snapshots.body['items'] as [{ id: string }];
    const hourly = { name: canary, cron: '0 * * * *', input: { [canary]: canary } };
    const schedule = (await api.as('admin').post('/api/v1/workflows/workflow-acme/schedules', hourly)).body;
    const config = { data: { [canary]: canary }, meta: { tenant: 'acme', why: canary } };
    await changeDocument(api.ctx.config, { scope: 'org', scope_id: 'acme' }, () => config);
    await changeDocument(api.ctx.config, { scope: 'team', scope_id: 'team-acme' }, () => config);
    await api.as('admin').post('/api/v1/schemas', { id: `acme/${canary}`, schema: { title: canary } });
    const started = await api.as('admin').post('/api/v1/workflows/workflow-acme/runs', { [canary]: canary });
    const run = String(started.body['run_id']);
    await api.as('admin').post(`/api/v1/workflow-runs/${run}/chat`, { content: canary });
    const artifact = String(body['artifact_ptr']);
    return { held, done, failed, denied, artifact, schedule: String(schedule['id']), run, snapshot };
  }
  type Planted = Awaited<ReturnType<typeof plant>>;

  const records = ({ id, path }: Endpoint, planted: Planted): string[] => {
    const { held, done, failed, denied, artifact, run, snapshot } = planted;
    if (path.includes(':snapshot_id')) return [snapshot];
    if (path.includes(':bundle_id')) return ['workflow~workflow-acme~policy'];
    if (id.startsWith('approvals.')) return [held];
    if (id.startsWith('artifacts.')) return [encodeURIComponent(artifact)];
    if (id.startsWith('traces.')) return ['trace-acme'];
    if (id.startsWith('workflows.') || id.startsWith('schedules.')) return ['workflow-acme'];
    if (id.startsWith('runs.')) return path.startsWith('/api/v1/workflows/') ? ['workflow-acme'] : [run];
    if (id.startsWith('workers.')) return ['worker-acme'];
    if (id.startsWith('schemas.')) return [encodeURIComponent(`acme/${canary}`)];
    if (id.startsWith('dlq.')) return [failed, denied];
    return id.startsWith('pools.') ? ['demo'] : [held, done, failed, denied];
  };
  /** The path of one record; what stands below it is the first of its kind. */
  const pathTo = ({ path }: Endpoint, id: string, { schedule, run }: Planted): string =>
    path.replace(/:\w+/, id).replace(':schedule_id', schedule).replace(':run_id', run).replace(/:\w+/, '1');
  /** What must be sent to be looked at further than whether it is valid. */
  const bodyOf = ({ id, body }: Endpoint): string | undefined => {
    if (id === 'runs.say') return '{"content":"x"}';
    if (id === 'dlq.release') return '{"reason":"x"}';
    return body && id.startsWith('schedules.') ? '{"interval_sec":60}' : undefined;
  };
  const queriesOf = ({ id }: Endpoint, { done }: Planted): string[] => {
    if (id === 'memory.read') return [`?ptr=redis://ctx:${done}`, `?key=res:${done}`, `?key=mem:${done}`];
    if (id === 'config.get') return ['', '?scope=org&scope_id=acme', '?scope=team&scope_id=team-acme&envelope=true'];
    if (id === 'config.effective') return ['', '?team_id=team-acme', '?scope=org&scope_id=acme', '?org_id=acme'];
    if (id === 'runs.list') return ['', '?workflow_id=workflow-acme', '?status=pending'];
    return id === 'jobs.list' ? ['', '?trace_id=trace-acme', `?team=${canary}`, '?state=SUCCEEDED'] : [''];
  };

  it.each(endpoints)('$method $path tells another tenant nothing', async (endpoint: Endpoint) => {
    const planted = await plant();
    const targets = /:\w+/.test(endpoint.path)
      ? records(endpoint, planted).map((id) => pathTo(endpoint, id, planted))
      : queriesOf(endpoint, planted).map((query) => endpoint.path + query);

    for (const target of targets) {
      const answer = await api.as('other').send(endpoint.method, target, bodyOf(endpoint));

      expect(JSON.stringify(answer.body ?? '')).not.toContain(canary);
      expect(answer.status).toBeLessThan(500);
      if (endpoint.otherTenant) expect(answer).toMatchObject(answers[endpoint.otherTenant]);
    }
  });

  const withRecord: readonly Endpoint[] = endpoints.filter(({ path }) => /:(id|job_id|ptr)\b/.test(path));

  it('every endpoint that names a record of a tenant declares what others are told', () => {
    const bare = withRecord.filter(({ otherTenant }) => otherTenant === undefined).map(({ id }) => id);

    // Workers belong to the installation; the jobs of a worker are those of the caller's tenant.
    expect(bare).toEqual(['workers.get', 'workers.jobs']);
  });

  it.each(withRecord)('$method $path changes nothing of it either', async (endpoint: Endpoint) => {
    const planted = await plant();
    const packetsBefore = await api.packets();
    const before = await api.store.index.page('acme', {}, 10);
    const runOf = () =>
      Promise.all([
        api.store.runs.load(planted.run),
        api.store.redis.lrange(`{s0}:wf:run:inbox:${planted.run}`, 0, -1),
        api.store.runIndex.page('acme', {}, 10),
        api.store.chat.page(`run:${planted.run}`, 10),
      ]);
    const runBefore = await runOf();

    for (const id of records(endpoint, planted)) {
      await api.as('other').send(endpoint.method, pathTo(endpoint, id, planted), bodyOf(endpoint));
    }

    expect(await api.store.index.page('acme', {}, 10)).toEqual(before);
    expect(await runOf()).toEqual(runBefore);
    expect(await api.store.deadLetters.get('acme', planted.failed)).toMatchObject({ job_id: planted.failed });
    expect((await api.as('admin').get('/api/v1/schemas')).body).toEqual({ schemas: [`acme/${canary}`] });
    expect((await api.as('admin').get('/api/v1/workflows/workflow-acme')).body).toMatchObject({ revision: 1 });
    expect((await api.as('admin').get('/api/v1/workflows/workflow-acme/schedules')).body).toMatchObject([
      { id: planted.schedule, cron: '0 * * * *', paused: false },
    ]);
    expect(await api.packets()).toEqual(packetsBefore);
  });

  it('the tenant itself reads all of it', async () => {
    const { done, failed, artifact } = await plant();

    const [detail, letters, stored, memory] = await Promise.all([
      api.as('admin').get(`/api/v1/jobs/${done}`),
      api.as('admin').get('/api/v1/dlq'),
      api.as('admin').get(`/api/v1/artifacts/${encodeURIComponent(artifact)}`),
      api.as('admin').get(`/api/v1/memory?key=mem:${done}`),
    ]);

    expect(detail.body).toMatchObject({ labels: { [canary]: canary }, result: { said: canary } });
    expect(JSON.stringify(letters.body)).toContain(failed);
    expect(Buffer.from(String(stored.body['content_base64']), 'base64').toString()).toBe(canary);
    expect(memory.body['json']).toEqual({ redis_type: 'string', value: canary });
  });

  it('a credential for every tenant acts for the one it names, and reads any record when it names none', async () => {
    const { done } = await plant();
    const everywhere = api.as('everywhere');

    const named = await everywhere.get(`/api/v1/jobs/${done}`, { 'X-Tenant-ID': 'globex' });
    const unnamed = await everywhere.get(`/api/v1/jobs/${done}`);

    expect(named).toMatchObject({ status: 403, body: { code: 'tenant_access_denied' } });
    expect(unnamed).toMatchObject({ status: 200, body: { id: done } });
  });

  it('403: a query or body that names another tenant', async () => {
    const listed = await api.as('admin').get('/api/v1/jobs?tenant=globex');
    const submitted = await api.as('admin').post('/api/v1/jobs', { prompt: 'x', org_id: 'globex' });

    expect(listed).toMatchObject({ status: 403, body: { code: 'tenant_access_denied' } });
    expect(submitted).toMatchObject({ status: 403, body: { code: 'tenant_access_denied' } });
  });
});

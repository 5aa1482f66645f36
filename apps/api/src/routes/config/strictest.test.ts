import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

/*
 * Attacks on restrictions: `admin` operates the installation, `other` is admin of tenant globex and writes its documents,
 * `otherUser` submits jobs there and chooses the team.
 */
const full = { status: 429, code: 'BACKPRESSURE' };
const ok = { status: 200, code: undefined };

describe('documents of a tenant', () => {
  const api = useApi();
  const write = async (who: 'admin' | 'other', scope: string, data: object, scope_id?: string) => {
    const { status } = await api.as(who).put('/api/v1/config', { scope, data, ...(scope_id && { scope_id }) });
    expect(status).toBe(204);
  };
  const submit = (body: object = {}) => api.as('otherUser').post('/api/v1/jobs', { prompt: 'say hello', ...body });
  const effective = async (query = '') =>
    (await api.as('other').get(`/api/v1/config/effective${query}`)).body['data'] as Record<string, unknown>;

  it.each([
    ['a higher limit', { limits: { max_concurrent_jobs: 1_000 } }],
    ['no limit', { limits: { max_concurrent_jobs: 0 } }],
    ['a section without it', { limits: {}, rate_limits: { queue_size: 1_000 } }],
    ['the other setting of that limit', { rate_limits: { concurrent_jobs: 1_000, queue_size: 1_000 } }],
  ])('429: %s does not raise limits.max_concurrent_jobs of the operator', async (_, lax) => {
    await write('admin', 'system', { limits: { max_concurrent_jobs: 2 } });
    await write('other', 'org', lax);
    await write('other', 'team', lax, 'lax');
    await submit({ team_id: 'lax' });
    await submit();

    expect(statusAndCode(await submit())).toEqual(full);
    const refused = await submit({ team_id: 'lax' });
    expect(refused.body).toMatchObject({ code: full.code, current: 2, limit: 2 });
  });

  it.each([
    ['limits.max_concurrent_jobs', { limits: { max_concurrent_jobs: 1_000 } }],
    ['limits.max_concurrent_jobs of 0', { limits: { max_concurrent_jobs: 0 } }],
    ['a larger queue', { rate_limits: { concurrent_jobs: 1, queue_size: 1_000 } }],
  ])('429: %s does not raise rate_limits.concurrent_jobs of the operator', async (_, lax) => {
    await write('admin', 'system', { rate_limits: { concurrent_jobs: 1, queue_size: 1 } });
    await write('other', 'org', lax);
    await submit();
    await submit();

    expect((await submit()).body).toMatchObject({ code: full.code, current: 2, limit: 2 });
  });

  it('429: a tenant lowers its own limit, and its strict team lowers it further', async () => {
    await write('admin', 'system', { limits: { max_concurrent_jobs: 5 } });
    await write('other', 'org', { limits: { max_concurrent_jobs: 2 } });
    await write('other', 'team', { limits: { max_concurrent_jobs: 1 } }, 'strict');
    await submit();

    expect(statusAndCode(await submit({ team_id: 'strict' }))).toEqual(full);
    expect(statusAndCode(await submit())).toEqual(ok);
    expect(statusAndCode(await submit({ team_id: 'none' }))).toEqual(full);
  });

  it('429: a higher rate does not raise that of the operator', async () => {
    await write('admin', 'system', { rate_limits: { requests_per_hour: 6 } });
    await write('other', 'org', { rate_limits: { requests_per_hour: 1_000 } });

    const answers = await Promise.all(Array.from({ length: 20 }, () => api.as('otherUser').get('/api/v1/jobs')));

    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.map(({ headers }) => headers['x-ratelimit-limit'])).toContain('6');
  });

  it('403: a lax team does not relax safety, and naming no team does not avoid it', async () => {
    await write('admin', 'system', { safety: { denied_topics: ['job.demo.never'] } });
    await write('other', 'org', { safety: { allowed_topics: ['job.demo.*'] } });
    await write('other', 'team', { safety: { allowed_topics: ['*'], denied_topics: [] } }, 'lax');
    await write('other', 'team', { safety: {} }, 'empty');

    for (const team of [{}, { team_id: 'lax' }, { team_id: 'empty' }, { team_id: 'none' }]) {
      for (const topic of ['job.demo.never', 'job.default'])
        expect(await submit({ topic, ...team })).toMatchObject({ status: 403, body: { code: 'policy_denied' } });
      expect(statusAndCode(await submit({ topic: 'job.demo.echo', ...team }))).toEqual(ok);
    }
  });

  it('403: allow lists without common entries allow nothing', async () => {
    await write('admin', 'system', { safety: { allowed_topics: ['job.demo.*'] } });
    await write('other', 'org', { safety: { allowed_topics: ['job.default', 'job.*.echo'] } });

    expect(await effective()).toEqual({ safety: { allowed_topics: [['job.*.echo', 'job.default'], ['job.demo.*']] } });
    for (const topic of ['job.default', 'job.demo.x'])
      expect(statusAndCode(await submit({ topic }))).toEqual({ status: 403, code: 'policy_denied' });
    expect(statusAndCode(await submit({ topic: 'job.demo.echo' }))).toEqual(ok);
  });

  it('403: memories that the operator denies, and those that the tenant does not allow', async () => {
    await write('admin', 'system', { context: { denied_memory_ids: ['secret-*'], allowed_memory_ids: ['*-notes'] } });
    await write('other', 'org', { context: { denied_memory_ids: [], allowed_memory_ids: ['team-*', 'secret-*'] } });
    await write('other', 'team', { context: { allowed_memory_ids: [] } }, 'lax');
    const violation = { status: 403, code: 'MEMORY_POLICY_VIOLATION' };

    for (const team of [{}, { team_id: 'lax' }]) {
      for (const memory_id of ['secret-notes', 'other-notes', 'team-other'])
        expect(statusAndCode(await submit({ memory_id, ...team }))).toEqual(violation);
      expect(statusAndCode(await submit({ memory_id: 'team-notes', ...team }))).toEqual(ok);
    }
  });

  it('429: active runs are limited by the operator', async () => {
    await write('admin', 'system', { rate_limits: { concurrent_workflows: 1 } });
    await write('other', 'org', { limits: { max_concurrent_runs: 0 } });
    await write('other', 'workflow', { limits: { max_concurrent_runs: 50 } }, 'intake');
    const config = { limits: { max_concurrent_runs: 50 } };
    const intake = { id: 'intake', name: 'intake', steps: { stow: { topic: 'job.default' } }, config };
    expect((await api.as('other').post('/api/v1/workflows', intake)).status).toBe(201);
    const start = () => api.as('other').post('/api/v1/workflows/intake/runs', {});

    expect((await start()).status).toBe(200);
    expect((await start()).body).toMatchObject({ code: 'RUN_NOT_RUNNABLE', current: 1, limit: 1 });
  });

  it('200: choices of a team are in effect only where they tighten', async () => {
    const lax = { approvals: { run_starter: 'allow' }, safety: { injection_detection: false } };
    await write('other', 'team', lax, 'lax');

    expect(await effective('?team_id=lax')).toEqual({
      approvals: { run_starter: 'deny_policy_holds' },
      safety: { injection_detection: true },
    });
    await write('other', 'org', lax);
    expect(await effective('?team_id=lax')).toEqual(lax);
  });
});

describe.each([
  ['closed', 'the operator’s closed', { system: 'closed', org: 'open' }, 503],
  ['closed', 'a default that a team would open', { team: 'open' }, 503],
  ['open', 'a team’s closed', { org: 'open', team: 'closed' }, 503],
  ['closed', 'the tenant’s own choice', { org: 'open' }, 200],
] as const)('while policy is unavailable, fail mode %s: %s', (mode, _, modes, status) => {
  const api = useApi({
    env: { POLICY_CHECK_FAIL_MODE: mode },
    context: (ctx) => ({
      ...ctx,
      submit: {
        ...ctx.submit,
        kernel: { ...ctx.submit.kernel, evaluate: () => Promise.reject(new Error('gone')) } as typeof ctx.submit.kernel,
      },
    }),
  });

  it(`returns ${status}`, async () => {
    for (const [scope, input_fail_mode] of Object.entries(modes)) {
      const who = scope === 'system' ? 'admin' : 'other';
      const place = { scope, ...(scope === 'team' && { scope_id: 'red' }) };
      await api.as(who).put('/api/v1/config', { ...place, data: { scheduler: { input_fail_mode } } });
    }

    const answer = await api.as('otherUser').post('/api/v1/jobs', { prompt: 'x', team_id: 'red' });

    expect(answer.status).toBe(status);
  });
});

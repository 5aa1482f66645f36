import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

const api = useApi();
const rules = `
version: '1'
default_decision: allow
rules:
  - id: no-stow
    match: { topics: [job.stow] }
    decision: deny
    reason: the berth is closed
  - id: ask-in-production
    match: { topics: [job.weigh], labels: { environment: production } }
    decision: require_approval
    reason: people decide there
`;
const steps = {
  stow: { name: 'Stow', topic: 'job.stow', depends_on: ['lane'], input: { crate: '${input.crate.id}' } },
  weigh: { topic: 'job.weigh', for_each: 'input.crates' },
  lane: { type: 'condition', condition: 'input.rush', depends_on: ['weigh'] },
  gated: { topic: 'job.weigh', policy_gate: 'deny', condition: 'input.rush' },
};
const dryRun = (body?: object, who: 'admin' | 'other' | 'viewer' = 'admin') =>
  api.as(who).post('/api/v1/workflows/intake/dry-run', body);
interface Step {
  step_id: string;
  decision: string;
}
const getSteps = async (body?: object) => {
  const { body: view } = await dryRun(body);
  return view['steps'] as Step[];
};

describe('POST /api/v1/workflows/:id/dry-run', () => {
  beforeAll(() => api.policy(rules));
  beforeEach(async () => {
    await api.as('admin').post('/api/v1/workflows', { id: 'intake', name: 'Intake', steps });
  });

  it('200: policy decisions of all jobs, dependencies first; other steps are not evaluated', async () => {
    const { body } = await dryRun({ input: { crates: [1, 2], rush: true } });

    expect(body).toMatchObject({
      workflow_id: 'intake',
      steps: [
        { step_id: 'weigh', step_type: 'worker', decision: 'ALLOW', topic: 'job.weigh', items: 2, would_run: 'yes' },
        { step_id: 'lane', step_type: 'condition', decision: 'N/A', reason: 'non-job step', condition: true },
        {
          step_id: 'stow',
          step_name: 'Stow',
          decision: 'DENY',
          reason: 'the berth is closed',
          rule_id: 'no-stow',
          unresolved: ['input.crate'],
        },
        { step_id: 'gated', decision: 'DENY', would_run: 'yes' },
      ],
    });
  });

  it('200: the environment is a label in the policy request; skipped steps are reported', async () => {
    const steps = await getSteps({ input: { crates: [] }, environment: 'production', more: 'is ignored' });

    expect(steps.find(({ step_id }) => step_id === 'weigh')).toMatchObject({
      decision: 'REQUIRE_APPROVAL',
      rule_id: 'ask-in-production',
    });
    expect(steps.find(({ step_id }) => step_id === 'gated')).toMatchObject({
      would_run: 'no',
      unresolved: ['input.rush'],
    });
  });

  it('200: an empty body; nothing is stored and nothing published', async () => {
    // The first read of topics fills the registry from the pools file.
    await api.as('admin').get('/api/v1/topics');
    const before = await api.store.redis.dbsize();

    expect(await getSteps()).toHaveLength(4);

    expect(await api.store.redis.dbsize()).toBe(before);
    expect((await api.as('admin').get('/api/v1/workflow-runs')).body).toMatchObject({ items: [] });
    expect(await api.packets()).toEqual([]);
  });

  it('200: a failed policy evaluation of one step is reported, with the decisions of the others', async () => {
    const ask = jest.spyOn(api.kernel, 'simulate').mockRejectedValueOnce(new Error('no kernel'));

    const decisions = (await getSteps({ input: { crates: [1] } })).map(({ decision }) => decision);

    expect(decisions).toEqual(['ERROR', 'N/A', 'DENY', 'DENY']);
    ask.mockRestore();
  });

  it('404, 403: an unknown workflow, another tenant’s, a viewer', async () => {
    expect(statusAndCode(await api.as('admin').post('/api/v1/workflows/none/dry-run'))).toEqual({
      status: 404,
      code: 'workflow_not_found',
    });
    expect((await dryRun({}, 'other')).status).toBe(403);
    expect((await dryRun({}, 'viewer')).status).toBe(403);
  });
});

import { useApi } from '../../api.testing';
import { told } from '../../caller.testing';

describe('a topic that derives risk tags from the amount', () => {
  const api = useApi();
  const topic = 'job.demo.pay';
  beforeAll(() =>
    api.policy(
      'default_decision: allow\nrules: [{id: large, decision: deny, match: {risk_tags: [large]}}, {id: mine, decision: deny, match: {risk_tags: [mine]}}]',
    ),
  );
  beforeEach(async () => {
    const risk_tag_deriver = 'amount-threshold:petty=0,large=500';
    const answer = await api.as('admin').post('/api/v1/topics', { name: topic, pool: 'demo', risk_tag_deriver });
    expect(answer.status).toBe(201);
  });

  it('replaces what the client says of it, at submission as in a simulation', async () => {
    const submit = async (amount: unknown) =>
      told(await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic, risk_tags: ['mine'], context: { amount } }));
    const simulate = async (amount: unknown) => {
      const asked = { topic, meta: { risk_tags: ['mine'] }, input_content: JSON.stringify({ amount }) };
      return (await api.as('admin').post('/api/v1/policy/simulate', asked)).body['ruleId'];
    };

    expect([await submit(20), await submit(501), await submit('a lot')]).toMatchObject([
      { status: 200 },
      { status: 403, code: 'policy_denied' },
      { status: 403, code: 'policy_denied' },
    ]);
    expect([await simulate(20), await simulate(501), await simulate(-1)]).toEqual(['', 'large', 'large']);
    expect((await api.as('other').post('/api/v1/policy/simulate', { topic, meta: { risk_tags: ['mine'] } })).body['ruleId']).toBe('mine'); // prettier-ignore
  });

  it('is what a dry run of a workflow asks with', async () => {
    const steps = { pay: { topic, input: { amount: '${input.amount}' }, meta: { risk_tags: ['mine'] } } };
    const made = await api.as('admin').post('/api/v1/workflows', { name: 'pay', steps });
    const tried = async (amount: number) => {
      const path = `/api/v1/workflows/${String(made.body['id'])}/dry-run`;
      return (await api.as('admin').post(path, { input: { amount } })).body['steps'];
    };

    expect(await tried(20)).toMatchObject([{ decision: 'ALLOW' }]);
    expect(await tried(501)).toMatchObject([{ decision: 'DENY', rule_id: 'large' }]);
  });
});

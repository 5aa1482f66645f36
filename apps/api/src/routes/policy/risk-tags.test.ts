import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';

describe('a topic that derives risk tags from the amount', () => {
  const api = useApi();
  const topic = 'job.demo.pay';
  const tags = ['large', 'mine', 'payment', 'low', 'review', 'blocked'];
  beforeAll(() => {
    const rules = tags.map((tag) => `{id: ${tag}, decision: deny, match: {risk_tags: [${tag}]}}`);
    return api.policy(`default_decision: allow\nrules: [${rules.join(', ')}]`);
  });
  beforeEach(async () => {
    const risk_tag_deriver = 'amount-threshold:petty=0,large=500';
    const answer = await api.as('admin').post('/api/v1/topics', { name: topic, pool: 'demo', risk_tag_deriver });
    expect(answer.status).toBe(201);
  });

  it('replaces the client’s tags, at submission and in a simulation', async () => {
    const submit = async (amount: unknown) =>
      statusAndCode(
        await api.as('user').post('/api/v1/jobs', { prompt: 'x', topic, risk_tags: ['mine'], context: { amount } }),
      );
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

  it('has default tiers at 100 and 300, in addition to the registered tags', async () => {
    const body = { name: topic, pool: 'demo', risk_tag_deriver: 'amount-threshold' };
    const matched = async (amount: number) => {
      const asked = { topic, input_content: JSON.stringify({ amount }) };
      return (await api.as('admin').post('/api/v1/policy/simulate', asked)).body['ruleId'];
    };

    await api.as('admin').post('/api/v1/topics', body);
    const byAmount = [await matched(99), await matched(100), await matched(299), await matched(300)];
    await api.as('admin').post('/api/v1/topics', { ...body, risk_tags: ['payment'] });

    expect(byAmount).toEqual(['low', 'review', 'review', 'blocked']);
    expect(await matched(99)).toBe('payment');
  });

  it('applies to a dry run of a workflow', async () => {
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

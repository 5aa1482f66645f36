import { eventually } from '@svc/testing';
import { useApi } from '../../api.testing';
import { bundleCalls } from './policy.testing';

const hour = 3_600_000;

describe('what a shadow policy would decide about a job that ends at the gateway', () => {
  const live = `
rules:
  - { id: never, decision: deny, match: { topics: [job.demo.echo] } }
  - { id: ask, decision: require_approval, match: { topics: [job.demo.ask] } }
  - { id: slow, decision: throttle, throttle_duration: 5s, match: { topics: [job.demo.slow] } }
`;
  const shadow = `
rules:
  - { id: ask-instead, decision: require_approval, match: { topics: [job.demo.echo] } }
  - { id: ask, decision: require_approval, match: { topics: [job.demo.ask] } }
  - { id: no-more, decision: deny, match: { topics: [job.demo.slow] } }
`;
  const api = useApi();
  const { put: putBundle, submit } = bundleCalls(api);
  const comparisons = async () => {
    const query = `from=${Date.now() - hour}&to=${Date.now() + hour}`;
    const path = `/api/v1/policy/shadows/secops~invariants/results/comparisons?${query}`;
    return (await api.as('admin').get(path)).body['entries'] as Record<string, string>[];
  };

  it('is recorded once: of a denied, a held and a throttled job, and of none that the scheduler asks about again', async () => {
    await putBundle('secops~invariants', { content: live });
    await api.as('admin').put('/api/v1/policy/shadows/secops~invariants', { content: shadow });
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(403));
    await eventually(async () => {
      await submit('job.demo.echo');
      expect(await comparisons()).not.toEqual([]);
    });
    const before = (await comparisons()).length;

    expect((await submit('job.default')).status).toBe(200);
    expect((await submit('job.demo.ask')).status).toBe(200);
    expect((await submit('job.demo.slow')).status).toBe(429);

    const found = await eventually(async () => {
      const all = await comparisons();
      expect(all).toHaveLength(before + 2);
      return all;
    });
    const facts = ({ active_verdict, shadow_verdict, diff, active_rule_id, shadow_rule_id }: Record<string, string>) =>
      [active_verdict, shadow_verdict, diff, active_rule_id, shadow_rule_id]; // prettier-ignore
    expect(found.slice(0, 3).map(facts)).toEqual([
      ['THROTTLE', 'DENY', 'escalated', 'slow', 'no-more'],
      ['REQUIRE_APPROVAL', 'REQUIRE_APPROVAL', 'unchanged', 'ask', 'ask'],
      ['DENY', 'REQUIRE_APPROVAL', 'approval_differ', 'never', 'ask-instead'],
    ]);
  });
});

import { eventually } from '@svc/testing';
import { useApi, type Api } from '../../api.testing';
import { bundleCalls } from './policy.testing';

const hour = 3_600_000;

async function readComparisons(api: Api): Promise<Record<string, string>[]> {
  const query = `from=${Date.now() - hour}&to=${Date.now() + hour}`;
  const path = `/api/v1/policy/shadows/secops~invariants/results/comparisons?${query}`;
  return (await api.as('admin').get(path)).body['entries'] as Record<string, string>[];
}

describe('shadow decisions on jobs that end at the gateway', () => {
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
  const api = useApi({ env: { GATEWAY_DISPATCH_AT_SUBMISSION: 'false' } });
  const { put: putBundle, submit } = bundleCalls(api);
  const comparisons = () => readComparisons(api);

  it('are recorded once for denied, held and throttled jobs, and not for jobs that the scheduler evaluates', async () => {
    await putBundle('secops~invariants', { content: live });
    await api.as('admin').put('/api/v1/policy/shadows/secops~invariants', { content: shadow });
    await eventually(
      async () => {
        expect((await submit('job.demo.echo')).status).toBe(403);
        expect(await comparisons()).not.toEqual([]);
      },
      { withinMs: 15_000 },
    );

    const allowed = await submit('job.default');
    const held = await submit('job.demo.ask');
    const denied = await submit('job.demo.echo');
    const throttled = await submit('job.demo.slow');

    expect([allowed, held, denied, throttled].map(({ status }) => status)).toEqual([200, 200, 403, 429]);
    const of = (all: Record<string, string>[], field: string, value: unknown) =>
      all.filter((result) => result[field] === value);
    const all = await eventually(async () => {
      const found = await comparisons();
      expect(of(found, 'active_rule_id', 'slow')).toHaveLength(1);
      return found;
    });
    expect(of(all, 'active_rule_id', 'slow')).toMatchObject([
      { active_verdict: 'THROTTLE', shadow_verdict: 'DENY', diff: 'escalated', shadow_rule_id: 'no-more' },
    ]);
    expect(of(all, 'job_id', held.body['job_id'])).toMatchObject([
      {
        active_verdict: 'REQUIRE_APPROVAL',
        shadow_verdict: 'REQUIRE_APPROVAL',
        diff: 'unchanged',
        active_rule_id: 'ask',
      },
    ]);
    expect(of(all, 'job_id', denied.body['job_id'])).toMatchObject([
      { active_verdict: 'DENY', shadow_verdict: 'REQUIRE_APPROVAL', diff: 'approval_differ', active_rule_id: 'never' },
    ]);
    expect(of(all, 'job_id', allowed.body['job_id'])).toEqual([]);
  });
});

describe('shadow decisions on jobs that the gateway places', () => {
  const rule = (decision: string) =>
    `rules:\n  - { id: echo, decision: ${decision}, match: { topics: [job.demo.echo] } }\n`;
  const api = useApi();
  const { put: putBundle, submit } = bundleCalls(api);

  it('are recorded once by the gateway, since the scheduler does not evaluate them', async () => {
    await putBundle('secops~invariants', { content: rule('allow') });
    await api.as('admin').put('/api/v1/policy/shadows/secops~invariants', { content: rule('deny') });

    const placed = await eventually(
      async () => {
        const { body } = await submit('job.demo.echo');
        const id = String(body['job_id']);
        expect(await api.store.jobs.load(id)).toMatchObject({ decided: 'submission' });
        await eventually(async () => expect(await readComparisons(api)).not.toEqual([]), { withinMs: 500 });
        return id;
      },
      { withinMs: 15_000 },
    );

    await eventually(async () => {
      const ofJob = (await readComparisons(api)).filter(({ job_id: id }) => id === placed);
      expect(ofJob).toMatchObject([{ active_verdict: 'ALLOW', shadow_verdict: 'DENY' }]);
    });
  });
});

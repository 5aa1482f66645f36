import { useScheduler } from './use-scheduler.testing';

const use = useScheduler();

/** Two jobs of a tenant in 30 seconds. */
const limited = (decision: string, more = '', defaults = 'allow') => `
version: '1'
default_decision: ${defaults}
rules:
  - id: burst
    decision: ${decision}
    reason: too many
    match: { topics: ['job.work'] }
    velocity: { max_requests: 2, window_seconds: 30, key: tenant }
${more}
`;
const throttling = limited('throttle', '    throttle_duration: 1h');

/** Submits jobs one by one; returns the ids of accepted jobs and the codes of rejections. */
async function submitted(count: number): Promise<{ ids: string[]; refusals: string[] }> {
  const ids: string[] = [];
  const refusals: string[] = [];
  for (let i = 0; i < count; i += 1) {
    await use.submit().then(
      (id) => ids.push(id),
      (error: { errorCode: string }) => refusals.push(error.errorCode),
    );
  }
  return { ids, refusals };
}

/** Ages every request in the velocity windows by this much. */
async function age(ms: number): Promise<void> {
  for (const window of await use.redis.keys('svc:velocity:*')) {
    for (const member of await use.redis.zrange(window, '0', '-1')) await use.redis.zincrby(window, -ms, member);
  }
}

describe('a job that a velocity rule allowed at submission', () => {
  it.each([
    ['denies', limited('deny'), 'policy_denied'],
    ['throttles', throttling, 'policy_throttled'],
  ])('is not stopped before dispatch by a rule that %s, regardless of later requests', async (_, policy, code) => {
    const gateway = await use.start({ policy, idle: true });
    const { ids, refusals } = await submitted(5);
    expect([ids.length, refusals]).toEqual([2, [code, code, code]]);
    await gateway.stop();

    await use.start();
    await use.worker({ id: 'w1' });

    for (const id of ids) await use.until(id, 'SUCCEEDED');
  });

  it('is not stopped when it waited longer than the window while others filled it', async () => {
    const gateway = await use.start({ policy: limited('deny'), idle: true });
    const early = await submitted(2);
    await age(30_000);
    const late = await submitted(3);
    expect([early.ids.length, late.ids.length, late.refusals]).toEqual([2, 2, ['policy_denied']]);
    await gateway.stop();

    await use.start();
    await use.worker({ id: 'w1' });

    for (const id of [...early.ids, ...late.ids]) await use.until(id, 'SUCCEEDED');
  });

  it('keeps its position under a changed policy', async () => {
    const gateway = await use.start({ policy: limited('deny'), idle: true });
    const { ids, refusals } = await submitted(5);
    expect([ids.length, refusals.length]).toEqual([2, 3]);
    await use.policy(limited('deny', "  - { id: other, decision: deny, match: { topics: ['job.other'] } }"));
    await gateway.stop();

    await use.start();
    await use.worker({ id: 'w1' });

    for (const id of ids) await use.until(id, 'SUCCEEDED');
  });

  it('is rejected when a changed policy allows fewer', async () => {
    const gateway = await use.start({ policy: limited('deny'), idle: true });
    const { ids } = await submitted(2);
    await use.policy(limited('deny').replace('max_requests: 2', 'max_requests: 1'));
    await gateway.stop();

    await use.start();
    await use.worker({ id: 'w1' });

    const [first = '', second = ''] = ids;
    await use.until(first, 'SUCCEEDED');
    await use.until(second, 'DENIED');
  });

  it('is allowed again by the same velocity rule', async () => {
    const gateway = await use.start({ policy: limited('allow', '', 'deny'), idle: true });
    const { ids, refusals } = await submitted(3);
    expect([ids.length, refusals]).toEqual([1, ['policy_denied', 'policy_denied']]);
    await age(30_000);
    await gateway.stop();

    await use.start();
    await use.worker({ id: 'w1' });

    await use.until(ids[0] ?? '', 'SUCCEEDED');
  });
});

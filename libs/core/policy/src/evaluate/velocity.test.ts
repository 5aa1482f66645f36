import { buildPolicy, verdict } from '../policy.testing';
import { decide, decideAsync } from './decide';
import { evaluation } from './evaluation';
import type { VelocityAnswer, VelocityCheck } from './request';

const pace = (id: string, key: string, more = '') =>
  `  - {id: ${id}, decision: throttle, throttle_duration: 5s, velocity: {max_requests: 3, window_seconds: 60, key: "${key}"}${more}}`;
const allow = '  - {id: ok, decision: allow}';
const policy = buildPolicy(`rules:\n${pace('pace', 'tenant:labels.customer', ', match: {topics: [job.a]}')}\n${allow}`);
const request = { topic: 'job.a', tenant: 'T', job_id: 'j', labels: { customer: 'c:1' } };
const counted = (count: number) => (): VelocityAnswer => ({ kind: 'count', count });
const down = (): VelocityAnswer => ({ kind: 'unavailable' });

describe('velocity rules', () => {
  it('counts exactly when the match holds, with the key and the limit', () => {
    const asked: VelocityCheck[] = [];
    const note = (check: VelocityCheck) => {
      asked.push(check);
      return counted(1)();
    };

    decide(policy, { ...request, topic: 'job.b' }, note);
    decide(policy, { ...request, labels: {} }, note);
    decide(policy, request, note);

    expect(asked).toEqual([{ ruleId: 'pace', key: 't:c%3A1', windowSeconds: 60, maxRequests: 3, member: 'j' }]);
  });

  it('fires above its limit and not at it', () => {
    expect(verdict(policy, request, {}, counted(3))).toEqual(['ALLOW', 'ok']);
    expect(verdict(policy, request, {}, counted(4))).toEqual(['THROTTLE', 'pace']);
  });

  it('an unavailable store requires an approval, or skips the rule in open mode', () => {
    expect(verdict(policy, request, {}, down)).toEqual(['REQUIRE_APPROVAL', 'pace']);
    expect(verdict(policy, request, { velocityFailMode: 'open' }, down)).toEqual(['ALLOW', 'ok']);
  });

  it('an unavailable store does not bypass a later ban, and is called once', () => {
    const banning = buildPolicy(
      `rules:\n${pace('one', 'tenant')}\n${pace('two', 'topic')}\n  - {id: no, decision: deny}`,
    );
    let calls = 0;

    const asked = verdict(banning, request, {}, () => {
      calls += 1;
      return down();
    });

    expect([asked, calls]).toEqual([['DENY', 'no'], 1]);
  });

  it('a limiting bundle is searched before broad permissions; a permitting one is not searched before bans', () => {
    const bundles = buildPolicy({
      base: 'rules:\n  - {id: ban, decision: deny, match: {topics: [job.ban]}}\n  - {id: ok, decision: allow}',
      'velocity/slow': `rules:\n${pace('slow', 'tenant')}`,
      'velocity/watch':
        'rules:\n  - {id: watch, decision: allow, velocity: {max_requests: 1, window_seconds: 1, key: topic}}',
    });

    expect(verdict(bundles, request, {}, counted(9))).toEqual(['THROTTLE', 'slow']);
    expect(verdict(bundles, { ...request, topic: 'job.ban' }, {}, counted(2))).toEqual(['DENY', 'ban']);
  });

  it('does not deny a request again that it permitted under the same policy, and does not count it', () => {
    const asked: VelocityCheck[] = [];
    const full = (check: VelocityCheck) => {
      asked.push(check);
      return counted(9)();
    };
    const permitted = (policy_snapshot: string) => ({ ...request, prior_permit: { policy_snapshot, rule_id: 'ok' } });

    expect(verdict(policy, permitted(policy.snapshot), {}, full)).toEqual(['ALLOW', 'ok']);
    expect(verdict(policy, permitted(`${policy.snapshot}|cfg:abc`), {}, full)).toEqual(['ALLOW', 'ok']);
    expect(asked).toEqual([]);
    expect(verdict(policy, permitted('another'), {}, full)).toEqual(['THROTTLE', 'pace']);
  });

  it('a permitted request can still be denied by a rule without a window', () => {
    const banning = buildPolicy(`rules:\n${pace('pace', 'tenant')}\n  - {id: no, decision: deny}`);
    const prior_permit = { policy_snapshot: banning.snapshot, rule_id: '' };

    expect(verdict(banning, { ...request, prior_permit }, {}, counted(9))).toEqual(['DENY', 'no']);
  });

  it('a rule that permitted a request permits it again, and others are counted', () => {
    const permitting = buildPolicy(
      'rules: [{id: busy, decision: allow, velocity: {max_requests: 2, window_seconds: 60, key: tenant}}]',
    );
    const permitted = (rule_id: string) => ({
      ...request,
      prior_permit: { policy_snapshot: permitting.snapshot, rule_id },
    });

    expect(verdict(permitting, permitted('busy'), {}, counted(1))).toEqual(['ALLOW', 'busy']);
    expect(verdict(permitting, permitted('other'), {}, counted(1))).toEqual(['DENY', '']);
    expect(verdict(permitting, permitted('other'), {}, counted(3))).toEqual(['ALLOW', 'busy']);
  });

  it('yields each check and waits for its result', () => {
    const conversation = evaluation(policy, request);

    expect(conversation.next()).toMatchObject({ done: false, value: { ruleId: 'pace' } });
    expect(conversation.next({ kind: 'count', count: 9 })).toMatchObject({
      done: true,
      value: { decision: 'THROTTLE' },
    });
  });

  it('denies when the counter throws or rejects', async () => {
    const lost = new Error('lost');
    const thrown = verdict(policy, request, {}, () => {
      throw lost;
    });

    expect(thrown).toEqual(['DENY', '']);
    expect(await decideAsync(policy, request, () => Promise.reject(lost))).toMatchObject({ decision: 'DENY' });
    expect(await decideAsync(policy, request, () => Promise.resolve(counted(4)()))).toMatchObject({
      decision: 'THROTTLE',
    });
  });
});

import { Sealer } from '@svc/audit';
import { useRedisStore } from '@svc/fixtures/store';
import { RedisDecisionLog } from './decision-log';
import { AuditFollower } from './follow-audit';

const all = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

describe('the decision log of the audit chain', () => {
  const use = useRedisStore();
  const log = () => new RedisDecisionLog(use.store, 3_600_000);
  const follower = () => new AuditFollower({ store: use.store, log: log() });
  const nowUs = () => Date.now() * 1_000;
  const decision = JSON.stringify({ decision: 'DENY', rule_id: 'r1', reason: 'no', policy_snapshot: 'p1|cfg:1' });
  const request = JSON.stringify({ principal_id: 'ann', agent_id: 'a1', risk_tags: ['write'], capability: 'mail' });
  const approval = JSON.stringify({
    status: 'approved',
    resolved_by: 'bob',
    resolved_role: 'operator',
    reason: 'fine',
  });

  async function record(...columns: (string | number)[]) {
    await use.redis.xadd(use.store.keys.auditOutbox(), '*', 'lines', ['job', 'acme', nowUs(), ...columns].join('\t'));
    await new Sealer(use.store.audit).seal();
  }
  const decide = (id: string) =>
    record(id, 'submit', '', 'PENDING', 'job.mail', '', '0', '', '', decision, '', request, '', '');

  it('has each decision once, also after a restart of the follower', async () => {
    const first = follower();
    await decide('j1');
    await first.follow();
    await decide('j2');
    await first.follow();
    await follower().follow();
    await decide('j3');
    await follower().follow();

    const decisions = await log().decisions('acme', all, 10);
    expect(decisions.map(({ jobId }) => jobId)).toEqual(['j3', 'j2', 'j1']);
    expect(decisions[0]).toMatchObject({
      topic: 'job.mail', ruleId: 'r1', verdict: 'deny', reason: 'no', agentId: 'a1', principalId: 'ann', capability: 'mail',
      riskTags: ['write'], policyVersion: 'p1',
    }); // prettier-ignore
    expect(await log().decisions('globex', all, 10)).toEqual([]);
  });

  it('has who resolved an approval, and no other transition', async () => {
    await record('j1', 'release', 'APPROVAL_REQUIRED', 'PENDING', 'job.mail', '', '0', '', '', '', approval);
    await record('j1', 'dispatch', 'PENDING', 'DISPATCHED', 'job.mail', '', '1', 'w1', '', '', '');
    await follower().follow();

    expect(await log().resolutions('acme', all, 10)).toMatchObject([
      { jobId: 'j1', outcome: 'approved', by: 'bob', role: 'operator', reason: 'fine' },
    ]);
    expect(await log().decisions('acme', all, 10)).toEqual([]);
  });
});

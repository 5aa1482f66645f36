import { decide, mergePolicies, parsePolicy, type Policy, type PolicyRequest } from '@svc/policy';
import type { Session } from '../session';
import { percentile } from '../statistics';

/** A decision in process with this many rules, each request decided by a different rule: p99, µs. */
export const policyP99 =
  (rules: number) =>
  async (session: Session): Promise<number> => {
    const policy = buildPolicy(rules);
    const requests = Array.from({ length: rules }, (_, i) => requestFor(i));
    const ask = (i: number) => {
      const request = requests[i % rules];
      if (request) decide(policy, request, () => ({ kind: 'count', count: 0 }));
    };
    for (let i = 0; i < 5_000; i++) ask(i);
    const us = new Float64Array(session.sizes.decisions);
    for (let i = 0; i < us.length; i++) {
      const startedMs = performance.now();
      ask(i);
      us[i] = (performance.now() - startedMs) * 1_000;
    }
    return percentile(us, 0.99);
  };

/** Typical rules: topics, risk tags, labels, conditions on the content. */
function buildPolicy(count: number): Policy {
  const rules = Array.from({ length: count }, (_, i) => {
    const also = [
      '',
      `, risk_tags: [tag-${i % 7}]`,
      `, labels: {team: team-${i % 11}}`,
      ', metadata: {amount_gt: 100}',
    ][i % 4];
    return `  - {id: rule-${i}, match: {topics: ['job.team-${i}.*']${also}}, decision: allow, reason: rule ${i}}`;
  });
  const text = `version: '1'\ndefault_decision: deny\nrules:\n${rules.join('\n')}\n`;
  const parsed = parsePolicy(text, { source: 'bench', mode: 'write' });
  if (!parsed.ok) throw new Error(`the policy of the bench is invalid: ${JSON.stringify(parsed.problems[0])}`);
  return mergePolicies([parsed.document]);
}

const requestFor = (i: number): PolicyRequest => ({
  topic: `job.team-${i}.berth`,
  tenant: 'default',
  job_id: `job-${i}`,
  principal_id: 'pilot',
  priority: 'interactive',
  labels: { team: `team-${i % 11}`, shift: 'early' },
  meta: { tenant_id: 'default', actor_id: 'pilot', actor_type: 'human', risk_tags: [`tag-${i % 7}`], requires: [] },
  input_content: JSON.stringify({
    prompt: 'Which berth is free tomorrow morning?',
    context: { amount: 250, ship: 'Marguerite' },
  }),
  input_content_type: 'application/json',
});

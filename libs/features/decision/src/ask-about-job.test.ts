import { plainJob } from './job-record.testing';
import { askAboutJob, type DecisionDeps } from './ask-about-job';
import { requestHash } from './job-packet';

const allow = { decision: 'ALLOW', reason: '', rule_id: 'r1', policy_snapshot: 's1', remediations: [] };
type Decide = DecisionDeps['kernel']['check'];

function ask(decide: Decide, ...[job, question]: [...Partial<[job: object, question: object]>]) {
  const registration = { risk_tag_deriver: '', risk_tags: [] };
  const deps = {
    kernel: { check: decide, evaluate: decide, simulate: decide },
    topics: { registry: { find: () => Promise.resolve({ kind: 'registered', registration }) } },
    clock: { nowUs: () => 7 },
  } as unknown as DecisionDeps;
  const { job_hash: _hash, ...asked } = plainJob();
  return askAboutJob(deps, { ...asked, ...job }, { method: 'evaluate', content: '{}', config: undefined, ...question });
}
const answered: Decide = () => Promise.resolve(allow as never);

describe('asking policy about a job', () => {
  it('returns the decision with its request and record', async () => {
    const answer = await ask(answered);

    expect(answer).toMatchObject({
      kind: 'decided',
      request: { job_id: 'j1', tenant: 'acme', input_content: '{}' },
      decision: { rule_id: 'r1' },
      record: { source: 'gateway', checked_at: 7, job_hash: requestHash(plainJob()) },
    });
  });

  it('sends the previous permit of a stored job before its dispatch', async () => {
    const safety = { decision: 'ALLOW', policy_snapshot: 's0', rule_id: 'r0', job_hash: 'h' };

    expect(await ask(answered, { job_hash: 'h', safety }, { method: 'check' })).toMatchObject({
      request: { prior_permit: { policy_snapshot: 's0', rule_id: 'r0' } },
      record: { source: 'scheduler', job_hash: 'h' },
    });
  });

  it('returns the error when policy fails, with the fail mode of the config over that of the installation', async () => {
    const fails: Decide = () => Promise.reject(new Error('down'));
    const config = { scheduler: { input_fail_mode: 'open' } };

    expect(await ask(fails, {}, { failMode: 'open' })).toMatchObject({ kind: 'unavailable', failMode: 'open' });
    expect(await ask(fails, {}, { failMode: 'closed', config })).toMatchObject({ failMode: 'open' });
    expect(await ask(fails, {}, { config })).toMatchObject({ failMode: 'closed', error: new Error('down') });
  });
});

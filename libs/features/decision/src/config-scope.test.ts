import { toConfigScope } from './config-scope';
import { plainJob } from './job-record.testing';

const names = { team_id: 'ops', workflow_id: 'deploy', step_id: 's1' };

describe('the config scope of a job', () => {
  it('ends at the requested layer', () => {
    const job = plainJob({ run: 'r1' }, names);

    expect(toConfigScope(job)).toEqual({ tenant: 'acme', team: 'ops', workflow: 'deploy', step: 's1' });
    expect(toConfigScope(job, 'workflow')).toEqual({ tenant: 'acme', team: 'ops', workflow: 'deploy' });
    expect(toConfigScope(job, 'team')).toEqual({ tenant: 'acme', team: 'ops' });
  });

  it('is that of the step for the items of a fan-out', () => {
    const job = plainJob({ run: 'r1' }, { ...names, step_id: 's1[17]' });

    expect(toConfigScope(job)).toEqual({ tenant: 'acme', team: 'ops', workflow: 'deploy', step: 's1' });
  });

  it('ignores the workflow and step that a submitter names', () => {
    expect(toConfigScope(plainJob({}, names))).toEqual({ tenant: 'acme', team: 'ops' });
  });
});

import { plainJob } from './job-record.testing';
import { toWorkflowStep } from './workflow-step';

const names = { workflow_id: 'deploy', run_id: 'r1', step_id: 's1' };

describe('the workflow step of a job', () => {
  it('is what the engine recorded', () => {
    const { request } = plainJob();

    expect(toWorkflowStep({ run: 'r1', request: { ...request, ...names } })).toEqual({
      workflow: 'deploy',
      run: 'r1',
      step: 's1',
    });
  });

  it('is empty for a job without a run, whatever its request and labels name', () => {
    const request = { ...plainJob().request, ...names, labels: names };

    expect(toWorkflowStep({ request })).toEqual({});
  });
});

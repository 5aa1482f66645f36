import { useEngine } from './use-engine.testing';

const secret = 'AKIA' + 'IOSFODNN7REALKEY';

describe('what output policy withholds of a step', () => {
  const use = useEngine({
    policy: `
version: '1'
default_decision: allow
output_policy: { enabled: true }
output_rules:
  - { id: cut, severity: high, match: { topics: [job.cut], scanners: [secret] }, decision: redact }
  - { id: keep, severity: high, match: { topics: [job.keep], scanners: [secret] }, decision: quarantine }
`,
    topics: {
      'job.cut': () => ({ key: secret, kept: 'this' }),
      'job.keep': () => ({ key: secret }),
      'job.say': ({ context }) => ({ said: context }),
    },
  });
  /** Everything that a run keeps and tells. */
  const allOf = async (id: string) => JSON.stringify([await use.state(id), await use.timeline(id)]);

  it('a step that reads a redacted output, and the run’s own, get the copy', async () => {
    await use.start();

    const id = await use.runOf({
      first: { topic: 'job.cut' },
      next: { topic: 'job.say', depends_on: ['first'], input: { from: '${steps.first.output}' } },
    });

    const run = await use.ended(id, 'succeeded');
    expect(run.steps['first']?.output).toEqual({ key: '[REDACTED]', kept: 'this' });
    expect(JSON.stringify(run.output)).toContain('[REDACTED]');
    expect(await allOf(id)).not.toContain(secret);
  });

  it('a quarantined output fails its step and stands nowhere in the run', async () => {
    await use.start();

    const id = await use.runOf({ first: { topic: 'job.keep' }, next: { topic: 'job.say', depends_on: ['first'] } });

    const run = await use.ended(id, 'failed');
    expect(run.steps['first']).toMatchObject({ status: 'failed', error: { code: 'step_output_quarantined' } });
    expect(await allOf(id)).not.toContain(secret);
    const job = await use.store.jobs.load(run.steps['first']?.job_id ?? '');
    expect(job).toMatchObject({ state: 'OUTPUT_QUARANTINED', output_safety: { phase: 'async', rule_id: 'keep' } });
  });
});

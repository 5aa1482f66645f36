import { runChaos } from './chaos';

/** The full length in .ci/run, a short run otherwise. */
const minutes = process.env['CI'] === 'true' ? 2 : 0.2;

describe('random faults under load', () => {
  // With this seed the first fault is the one that the fault table lists for this test.
  it('two services killed at once, plus the faults of the seed: all invariants hold', async () => {
    const { faults, violations, accepted, ended, repeatWith } = await runChaos({
      seed: 23,
      minutes,
      say: () => undefined,
    });

    expect({ repeatWith, violations }).toEqual({ repeatWith, violations: [] });
    expect(faults).toHaveProperty('two services are killed at once');
    expect(accepted).toBeGreaterThan(0);
    expect(Object.values(ended).reduce((a, b) => a + b)).toBe(accepted);
  }, 600_000);
});

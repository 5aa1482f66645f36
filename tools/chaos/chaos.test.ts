import { runChaos } from './chaos';

/** As long as .ci/run wants it; somebody who waits for it gets the beginning. */
const minutes = process.env['CI'] === 'true' ? 2 : 0.2;

describe('a storm over everything', () => {
  // With this seed the first thing that happens is the one that the fault table wants to see here.
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

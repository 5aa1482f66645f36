import { runChaos } from './chaos';

/** The full length in .ci/run, a short run otherwise. */
const minutes = process.env['CI'] === 'true' ? 2 : 0.2;

/** Those that the fault table lists for this test. */
const first = [
  'two services are killed at once',
  'a pool is drained, a service is killed, and the pool is activated',
  'the credential of a worker is revoked, a service is killed, and it is written again',
];

describe('random faults under load', () => {
  it('two services killed at once, plus the faults of the seed: all invariants hold', async () => {
    const { faults, violations, accepted, ended, repeatWith } = await runChaos({
      // A seed whose workers are attested.
      seed: 23,
      minutes,
      first,
      say: () => undefined,
    });

    expect({ repeatWith, violations }).toEqual({ repeatWith, violations: [] });
    expect(Object.keys(faults)).toEqual(expect.arrayContaining(first));
    expect(accepted).toBeGreaterThan(0);
    expect(Object.values(ended).reduce((a, b) => a + b)).toBe(accepted);
  }, 600_000);
});

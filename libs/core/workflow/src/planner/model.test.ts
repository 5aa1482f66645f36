import fc from 'fast-check';
import { isRunEnded } from '@svc/lifecycle';
import { cases, type Case } from './generate.testing';
import { Oracle } from './oracle.testing';
import { jobIdParts } from './ids';
import { World } from './world.testing';

const played = (given: Case, options: Partial<ConstructorParameters<typeof World>[1]> = {}): World => {
  const world = new World(given, { maxParallelSteps: given.order % 4, trouble: 0.25, ...options });
  world.play();
  return world;
};

/** Invariants of an ended run. */
function expectEnded(world: World): void {
  expect(isRunEnded(world.run.status)).toBe(true);
  expect(world.finished).toBe(1);
  expect(world.run.counts).toEqual({ jobs: 0, busy: 0, waiting: 0 });
}

/** Every succeeded step with a compensation was compensated once, newest first. */
function expectUndone(world: World, { definition }: Case): void {
  expect(new Set(world.undone).size).toBe(world.undone.length);
  if (world.run.status === 'succeeded') expect(world.undone).toEqual([]);
  if (world.run.status === 'succeeded') return;
  const undoable = world.succeeded.filter((jobId) => {
    const { compensation } = definition.steps[jobIdParts(jobId)?.path.split('[')[0] ?? ''] ?? {};
    return compensation !== undefined;
  });
  // A job that succeeded despite its cancellation is compensated too, and is not in the list of completed steps.
  expect(world.undone.filter((jobId) => undoable.includes(jobId))).toEqual(undoable.reverse());
}

describe('a run under random faults', () => {
  it('ends every step, and itself, as the oracle predicts when siblings finish', () => {
    fc.assert(
      fc.property(cases('finish_siblings'), (given) => {
        const world = played(given);
        const oracle = new Oracle(given);

        expectEnded(world);
        expectUndone(world, given);
        const bad: string[] = [];
        for (const id of oracle.topLevel) {
          const { statuses, settled } = oracle.verdict(id);
          const { status = '', settled: found } = world.run.steps[id] ?? {};
          expect([id, statuses, found]).toEqual([id, statuses.includes(status) ? statuses : [status], settled]);
          if (settled === 'bad') bad.push(id);
        }
        expect(world.run.status === 'succeeded').toBe(bad.length === 0);
      }),
      { numRuns: 250 },
    );
  });

  it('that cancels siblings ends once, begins nothing after, and compensates finished steps', () => {
    fc.assert(
      fc.property(cases('cancel_siblings'), (given) => {
        const world = played(given);
        const oracle = new Oracle(given);

        expectEnded(world);
        expectUndone(world, given);
        const fails = oracle.topLevel.some((id) => oracle.verdict(id).settled === 'bad');
        expect(world.run.status === 'succeeded').toBe(!fails);
      }),
      { numRuns: 250 },
    );
  });

  it('cancelled at any moment, ends once and compensates finished steps', () => {
    fc.assert(
      fc.property(cases('cancel_siblings'), fc.nat(12), (given, cancelAfter) => {
        const world = played(given, { cancelAfter });

        expectEnded(world);
        expectUndone(world, given);
      }),
      { numRuns: 150 },
    );
  });
});

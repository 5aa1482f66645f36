import { command, CrashWalk, listWritePoints, type Walk } from './crash-walk';
import { scenarios } from './scenarios';
import { sample, seeded } from './seeded';

/** `npm test` covers some points of each walk; `npm run chaos -- --walk` covers all. */
const pointsEach = 3;
/** Fewer points for runs: after each crash of an engine its locks must expire, and there are many walks. */
const pointsEachOfRuns = 2;
const seed = Number(process.env['CHAOS_SEED'] ?? 1);

describe('the crash walk: a service crashes before or after one of its Redis or NATS operations', () => {
  let walk: CrashWalk;
  const walks = scenarios.flatMap((scenario) =>
    scenario.services.map((service) => [scenario.name, service, scenario] as const),
  );

  beforeAll(async () => {
    walk = await CrashWalk.start();
    await walk.learnBackground();
  }, 120_000);
  afterAll(() => walk?.stop(), 30_000);

  it.each(walks)(
    '%s: the %s recovers, and all invariants hold',
    async (_, service, scenario) => {
      const surveyed: Walk = await walk.survey(scenario, service);
      const points = sample(
        listWritePoints(surveyed),
        scenario.name.startsWith('run-') ? pointsEachOfRuns : pointsEach,
        seeded(seed),
      );
      expect(points.length).toBeGreaterThan(0);

      for (const point of points) {
        const { faults } = await walk.step(surveyed, point);
        expect({ repeatWith: command(surveyed, point), faults }).toMatchObject({ faults: [] });
      }
    },
    180_000,
  );
});

import { command, CrashWalk, modes, listCrashPoints, type Walk } from './crash-walk';
import type { CrashPoint, Mode } from './operations';
import { scenarios } from './scenarios';

export interface WalkWish {
  /** Names, comma-separated. */
  scenario?: string | undefined;
  service?: string | undefined;
  k?: number | undefined;
  mode?: Mode | undefined;
}

export interface WalkReport {
  points: number;
  /** One per point with violations. */
  failures: { repeatWith: string; died: string | undefined; faults: string[] }[];
}

/**
 * Walks all selected points, in one world for all of them.
 *
 * @throws Error when no point is selected
 */
export async function runWalk(wish: WalkWish, say: (text: string) => void): Promise<WalkReport> {
  const wanted = scenarios
    .filter(({ name }) => wish.scenario === undefined || wish.scenario.split(',').includes(name))
    .flatMap((scenario) => scenario.services.map((service) => ({ scenario, service })))
    .filter(({ service }) => wish.service === undefined || service === wish.service);
  if (wanted.length === 0) {
    throw new Error(
      `scenarios are ${scenarios.map(({ name, services }) => `${name} (${services.join()})`).join(', ')}`,
    );
  }
  const report: WalkReport = { points: 0, failures: [] };
  let walk = await freshWalk(say);
  try {
    for (const { scenario, service } of wanted) {
      const surveyed = await walk.survey(scenario, service);
      say(`${scenario.name}: ${surveyed.operations.length} operations of the ${service}`);
      for (const point of wish.k === undefined
        ? listCrashPoints(surveyed)
        : modes.map((mode) => ({ k: wish.k ?? 1, mode }))) {
        if (wish.mode !== undefined && wish.mode !== point.mode) continue;
        if (await stepAndReport(walk, surveyed, point, { report, say })) continue;
        // A violation would be found again at every later point.
        await walk.stop();
        walk = await freshWalk(say);
      }
    }
    return report;
  } finally {
    await walk.stop();
  }
}

async function freshWalk(say: (text: string) => void): Promise<CrashWalk> {
  say('starting Redis, NATS and the services');
  const walk = await CrashWalk.start();
  say('recording the operations of idle services');
  await walk.learnBackground();
  return walk;
}

/** @returns whether all invariants hold */
async function stepAndReport(
  walk: CrashWalk,
  surveyed: Walk,
  point: CrashPoint,
  { report, say }: { report: WalkReport; say: (text: string) => void },
): Promise<boolean> {
  const { died, faults, tookMs } = await walk.step(surveyed, point);
  const where = died === undefined ? 'operation not reached' : `died ${point.mode} ${died}`;
  report.points++;
  say(`  ${String(point.k).padStart(3)} ${where}, checked after ${tookMs} ms`);
  if (faults.length === 0) return true;
  const found = faults.map(({ invariant, jobId, text }) => `${invariant} ${jobId} ${text}`);
  const repeatWith = command(surveyed, point);
  report.failures.push({ repeatWith, died, faults: found });
  say(`      ${found.join('\n      ')}\n      repeat with: ${repeatWith}`);
  return false;
}

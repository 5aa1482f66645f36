import type { Session } from '../session';
import { median } from '../statistics';

export const costed = ['api', 'scheduler', 'engine', 'worker', 'redis', 'nats'] as const;
export type Costed = (typeof costed)[number];

/** CPU time per job of one process, or of all, from its POST to its end, µs. The load generator is not counted. */
export const cpuPerJob =
  (...processes: readonly Costed[]) =>
  async (session: Session): Promise<number> =>
    median(
      (await session.drains()).map(
        ({ drain: { cpuUs, jobs } }) => processes.reduce((us, name) => us + (cpuUs[name] ?? 0), 0) / jobs,
      ),
    );

import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import type { DependencyReport, Health } from '@svc/runtime';
import { dependencyHealth } from './dependency-health';
import { readStatus, type StatusDeps } from './read-status';

/** Dependencies of these handlers. */
export interface StatusContext {
  health: Health;
  status: StatusDeps;
}

const handle = handlersFor<StatusContext>();

/** Health and status of the gateway. */
export const statusRoutes = [
  handle(contract.healthz, async ({ ctx }) => {
    const { status, body } = ctx.health.healthz();
    return answer({ ...body }, { status });
  }),
  handle(contract.readyz, async ({ ctx }) => {
    const { status, body } = await ctx.health.readyz();
    return answer({ ...body }, { status });
  }),
  handle(contract.livez, async ({ ctx }) => {
    const { status, body } = ctx.health.livez();
    return answer({ ...body }, { status });
  }),
  handle(contract.health, async ({ ctx }) => {
    const { status, body } = await dependencyHealth(ctx);
    return answer(body, { status });
  }),
  handle(contract.apiHealth, async ({ ctx, caller }) => {
    const { status, body } = await dependencyHealth(ctx);
    if (caller?.role !== 'admin') return answer(body, { status });
    const details = (await ctx.health.report()).map(toDetail);
    return answer({ ...body, details: Object.fromEntries(details) }, { status });
  }),
  handle(contract.getStatus, async ({ caller, ctx }) => {
    const { status, fresh } = await readStatus(ctx.status, caller);
    return answer(status, { headers: { 'X-Cache': fresh ? 'MISS' : 'HIT' } });
  }),
];

/** For admins: also the cause, as reported by the driver. */
const toDetail = ({ name, ok, sinceMs, durationMs, error }: DependencyReport) => [
  name,
  {
    ok,
    since: new Date(sinceMs).toISOString(),
    took_ms: durationMs,
    ...(error !== undefined && { error: error instanceof Error ? error.message : 'unknown' }),
  },
];

import { apiHealth as endpoint } from '@svc/contract';
import { answer } from '@svc/http';
import type { DependencyReport } from '@svc/runtime';
import { handle } from '../../context';
import { dependencyHealth } from './dependency-health';

export const api = handle(endpoint, async ({ ctx, caller }) => {
  const { status, body } = await dependencyHealth(ctx);
  if (caller?.role !== 'admin') return answer(body, { status });
  const details = (await ctx.health.report()).map(detailOf);
  return answer({ ...body, details: Object.fromEntries(details) }, { status });
});

/** For admins: also why, as the driver says it. */
const detailOf = ({ name, ok, sinceMs, durationMs, error }: DependencyReport) => [
  name,
  {
    ok,
    since: new Date(sinceMs).toISOString(),
    took_ms: durationMs,
    ...(error !== undefined && { error: error instanceof Error ? error.message : 'unknown' }),
  },
];

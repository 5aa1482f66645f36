import type { Platform } from '@svc/platform';
import { type FireScheduleDeps, type RunDeps, startUnattended } from '@svc/workflows';

/** What schedules start and cancel: runs of this engine, counted by the license like any that a caller starts. */
export function scheduleDeps(ctx: RunDeps, { license }: Pick<Platform, 'license'>): FireScheduleDeps {
  const starting = { ...ctx, maxActiveRuns: () => license.entitlements().max_active_workflows };
  return {
    store: ctx.store,
    random: ctx.random,
    start: (start) => startUnattended(starting, start),
    // One that ended or is gone needs none.
    cancel: async (tenant, runId) =>
      void (await ctx.store.runs.post(tenant, runId, { kind: 'cancel', by: 'schedule' })),
  };
}

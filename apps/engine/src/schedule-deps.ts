import type { Platform } from '@svc/platform';
import { type FireScheduleDeps, type RunDeps, startUnattended } from '@svc/workflows';

/** Lets schedules start and cancel runs. The license counts these runs like those that a caller starts. */
export function scheduleDeps(ctx: RunDeps, { license }: Pick<Platform, 'license'>): FireScheduleDeps {
  const starting = { ...ctx, maxActiveRuns: () => license.entitlements().max_active_workflows };
  return {
    store: ctx.store,
    random: ctx.random,
    start: (start) => startUnattended(starting, start),
    // The result is ignored: a run that ended or no longer exists needs no cancel.
    cancel: async (tenant, runId) =>
      void (await ctx.store.runs.post(tenant, runId, { kind: 'cancel', by: 'schedule' })),
  };
}

import type { RoutingRules } from '@svc/routing';
import type { EffectiveConfig } from './effective-config';

/** Settings from the environment; undefined = not set. */
export interface BoundarySettings {
  /** WORKER_READINESS_REQUIRED */
  readinessRequired: boolean | undefined;
}

/**
 * The rules for choosing workers. The environment wins when set, else `boundary_hardening` of system/default; from memory.
 */
export async function routingRules({
  config,
  settings,
}: {
  config: Pick<EffectiveConfig, 'at'>;
  settings: BoundarySettings;
}): Promise<RoutingRules> {
  return { readinessRequired: settings.readinessRequired ?? (await inConfig(config)) };
}

async function inConfig(config: Pick<EffectiveConfig, 'at'>): Promise<boolean> {
  // Without a tenant only system/default is read, so that no tenant changes routing for all.
  const own = (await config.at({ tenant: '' }))?.['boundary_hardening'] as Record<string, unknown> | undefined;
  return own?.['worker_readiness_required'] === true;
}

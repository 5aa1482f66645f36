import type { RoutingRules } from '@svc/routing';
import type { EffectiveConfig } from './effective-config';

/** What an operator's environment says; undefined = not set. */
export interface BoundarySettings {
  /** WORKER_READINESS_REQUIRED */
  readinessRequired: boolean | undefined;
}

/**
 * How workers are chosen. The environment wins when set, else `boundary_hardening` of system/default says; read from memory.
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
  // No tenant: only system/default counts, so that no tenant decides for the workers of all.
  const own = (await config.at({ tenant: '' }))?.['boundary_hardening'] as Record<string, unknown> | undefined;
  return own?.['worker_readiness_required'] === true;
}

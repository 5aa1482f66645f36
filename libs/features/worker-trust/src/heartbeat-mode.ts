import { type Heartbeat, shorten } from '@svc/contract';
import { allowsPool, type RefusalReason, type WorkerScope } from './attestation';
import type { WorkerSession } from './worker-trust.repository';

/** SVC_HEARTBEAT_MODE */
export type HeartbeatMode = 'authority' | 'warn' | 'telemetry';

/** What is known of the worker that a heartbeat comes from. */
export interface HeartbeatSource {
  scope: WorkerScope;
  session: WorkerSession | undefined;
}

/** A heartbeat as it counts, or the reason that it does not, and how it differs from what is known of its worker. */
export interface JudgedHeartbeat {
  beat: Heartbeat | undefined;
  differences: readonly RefusalReason[];
}

/**
 * Compares the pool and the capabilities of a heartbeat with the credential and the session of its worker; in mode
 * `telemetry` the latter replace them. A credential with several pools leaves the choice among them to the worker. Without a
 * session a worker has no capabilities. See docs/reference/worker-protocol.md#heartbeat.
 */
export function judgeHeartbeat(
  beat: Heartbeat,
  source: HeartbeatSource | undefined,
  mode: HeartbeatMode,
  nowMs: number,
): JudgedHeartbeat {
  if (mode === 'authority') return { beat, differences: [] };
  const isTelemetry = mode === 'telemetry';
  if (!source) return { beat: isTelemetry ? undefined : beat, differences: ['credential_invalid'] };
  const { scope, session } = source;
  const declared = session && !session.revoked && session.exp_ms > nowMs ? (session.capabilities ?? []) : [];
  const [only, ...others] = scope.pools;
  const isPoolAllowed = allowsPool(scope, beat.pool);
  const pool = isPoolAllowed ? beat.pool : others.length === 0 ? only : undefined;
  const known = new Set(declared.map(normal));
  const differences: RefusalReason[] = [
    ...(isPoolAllowed ? [] : (['pool_differs'] as const)),
    ...(beat.capabilities.every((name) => known.has(normal(name))) ? [] : (['capabilities_differ'] as const)),
  ];
  if (!isTelemetry) return { beat, differences };
  return { beat: pool === undefined ? undefined : { ...beat, pool, capabilities: [...declared] }, differences };
}

/** As routing compares them. */
const normal = (name: string): string => shorten(name).trim().toLowerCase();

import type { TelemetryMode } from '@svc/contract';
import { collectSnapshot } from './collect-snapshot';
import type { TelemetryDeps } from './telemetry-deps';
import type { TelemetryState } from './telemetry.repository';
import { modeInEffect } from './telemetry-mode';

const COLLECT_EVERY_MS = 4 * 3_600_000;
const SEND_EVERY_MS = 24 * 3_600_000;

/** The mode in effect, from the stored choice, the setting and the license. */
export const getMode = (
  { settings, license }: Pick<TelemetryDeps, 'settings' | 'license'>,
  { consent }: Pick<TelemetryState, 'consent'>,
): TelemetryMode =>
  modeInEffect({ stored: consent, configured: settings.mode, licensed: license.entitlements().telemetry_mode });

/**
 * Takes a snapshot every four hours and sends the last one every 24 hours, the latter only in mode `anonymous`. Run it under a
 * lease. After a crash between sending and its record, a snapshot is sent twice.
 *
 * @throws OutboundError when the receiver does not respond
 */
export async function runTelemetry(deps: TelemetryDeps): Promise<'idle' | 'collected' | 'sent'> {
  const { repository, clock, outbound, settings } = deps;
  const state = await repository.read();
  const mode = getMode(deps, state);
  if (mode === 'off') return 'idle';
  const nowMs = clock.nowMs();
  let { snapshot } = state;
  const isDue = snapshot === null || nowMs - state.collectedMs >= COLLECT_EVERY_MS || modeIn(snapshot) !== mode;
  if (isDue) {
    snapshot = JSON.stringify(await collectSnapshot(deps, mode));
    await repository.writeSnapshot(snapshot, nowMs);
  }
  if (mode !== 'anonymous' || settings.endpoint === '' || nowMs - state.reportedMs < SEND_EVERY_MS || snapshot === null)
    return isDue ? 'collected' : 'idle';
  // The choice may have changed while the snapshot was taken.
  if (getMode(deps, await repository.read()) !== 'anonymous') return 'collected';
  const headers = { 'Content-Type': 'application/json' };
  const { status } = await outbound.request(settings.endpoint, { method: 'POST', headers, body: snapshot });
  if (status >= 300) throw new Error(`the telemetry receiver answered ${status}`);
  await repository.writeReported(nowMs);
  return 'sent';
}

const modeIn = (snapshot: string): unknown => (JSON.parse(snapshot) as { mode?: unknown }).mode;

import * as contract from '@svc/contract';
import { AppError, type TelemetrySnapshot, type TelemetryStatus } from '@svc/contract';
import { answer, handlersFor, JsonText } from '@svc/http';
import { getMode } from './send-telemetry';
import type { TelemetryDeps } from './telemetry-deps';
import { readMode } from './telemetry-mode';

/** Dependencies of these handlers. */
export interface TelemetryContext {
  telemetry: TelemetryDeps;
}

const handle = handlersFor<TelemetryContext>();

async function readStatus(deps: TelemetryDeps): Promise<TelemetryStatus> {
  const state = await deps.repository.read();
  const mode = getMode(deps, state);
  const isSent = mode === 'anonymous' && deps.settings.endpoint !== '';
  return {
    mode,
    ...(isSent && { endpoint: new URL(deps.settings.endpoint).origin }),
    ...(state.collectedMs > 0 && { last_collected_at: new Date(state.collectedMs).toISOString() }),
    ...(state.reportedMs > 0 && { last_reported_at: new Date(state.reportedMs).toISOString() }),
  };
}

/** The stored text, so that both routes return the bytes that are sent. */
const readSnapshot = async ({ repository }: TelemetryDeps) =>
  new JsonText<TelemetrySnapshot>((await repository.read()).snapshot ?? 'null');

/** Telemetry of the installation. See docs/operations.md#telemetry. */
export const telemetryRoutes = [
  handle(contract.getTelemetryStatus, async ({ caller, ctx: { telemetry } }) => {
    contract.requireInstallationCaller(caller, telemetry.defaultTenant);
    return readStatus(telemetry);
  }),
  handle(contract.inspectTelemetry, async ({ caller, ctx: { telemetry } }) => {
    contract.requireInstallationCaller(caller, telemetry.defaultTenant);
    return readSnapshot(telemetry);
  }),
  handle(contract.exportTelemetry, async ({ caller, ctx: { telemetry } }) => {
    contract.requireInstallationCaller(caller, telemetry.defaultTenant);
    const headers = { 'Content-Disposition': 'attachment; filename="svc-telemetry.json"' };
    const snapshot = await readSnapshot(telemetry);
    return answer(snapshot as never, { headers });
  }),
  handle(contract.getTelemetryUsage, async ({ caller, ctx: { telemetry } }) => {
    contract.requireInstallationCaller(caller, telemetry.defaultTenant);
    const { snapshot } = await telemetry.repository.read();
    if (snapshot === null) return {};
    const { workers, usage, features_enabled, engagement, limits_hit } = JSON.parse(snapshot) as TelemetrySnapshot;
    return { workers, usage, features_enabled, engagement, limits_hit };
  }),
  handle(contract.setTelemetryConsent, async ({ body, caller, ctx: { telemetry } }) => {
    contract.requireInstallationCaller(caller, telemetry.defaultTenant);
    const mode = readMode(body.mode);
    if (mode === undefined) throw new AppError('telemetry_mode_unknown');
    await telemetry.repository.writeConsent(mode);
    return { status: 'updated', mode: getMode(telemetry, { consent: mode }) };
  }),
];

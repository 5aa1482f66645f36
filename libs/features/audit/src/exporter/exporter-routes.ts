import { sealFacts, toTimestamp } from '@svc/audit-chain';
import {
  AppError,
  everyTenant,
  type AuditExportConfig,
  type AuditExporterKind,
  type AuditExportHealth,
  type Caller,
} from '@svc/contract';
import type { License } from '@svc/identity';
import type { Clock } from '@svc/platform';
import type { ExportStateRepository } from './export-state.repository';
import type { ReceiverSettings } from './open-receiver';
import type { Receiver } from './receiver';

/** The exporter as its routes see it. */
export interface ExporterStatus {
  kind: AuditExporterKind;
  /** Undefined when none is configured. */
  receiver: Receiver | undefined;
  settings: ReceiverSettings;
  state: Pick<ExportStateRepository, 'progress' | 'deadLetters' | 'deadLetter' | 'removeDead'>;
  license: Pick<License, 'entitlements'>;
  clock: Pick<Clock, 'nowUs'>;
  /** Hours for which events are kept; undefined = for ever. */
  retentionHours(): number | undefined;
}

const isEntitled = ({ license }: Pick<ExporterStatus, 'license'>): boolean => license.entitlements().siem_export;

/** State of the exporter. Numbers are of all tenants, so only callers for all tenants see them. */
export async function readExportHealth(exporter: ExporterStatus, caller: Caller): Promise<AuditExportHealth> {
  const { kind, receiver } = exporter;
  const entitled = isEntitled(exporter);
  const health: AuditExportHealth = { backend: kind, status: receiver && entitled ? 'active' : 'disabled', entitled };
  if (!receiver) return health;
  const { pending, deadLetters, lastError, lastSuccessAt } = await exporter.state.progress();
  const isForAll = caller.scope === everyTenant || caller.allowCrossTenant;
  return {
    ...health,
    ...(isForAll && { pending, dead_letters: deadLetters }),
    ...(lastError && { last_error: lastError }),
    ...(lastSuccessAt && { last_success_at: lastSuccessAt }),
  };
}

/** Settings of the exporter without secrets. */
export function readExportConfig(exporter: ExporterStatus): AuditExportConfig {
  const hours = exporter.retentionHours();
  return {
    type: exporter.kind,
    entitled: isEntitled(exporter),
    ...(hours === undefined ? { retention: 'unlimited' as const } : { retention_days: Math.ceil(hours / 24) }),
    ...exporter.settings,
  };
}

/** @throws audit_exporter_missing */
export function requireReceiver(exporter: Pick<ExporterStatus, 'receiver'>): Receiver {
  if (!exporter.receiver) throw new AppError('audit_exporter_missing');
  return exporter.receiver;
}

/**
 * Sends a test event. It is not part of the chain, and has sequence number 1.
 *
 * @throws audit_exporter_missing
 */
export async function testExport(
  exporter: ExporterStatus,
  caller: Caller,
): Promise<{ success: boolean; message: string }> {
  const receiver = requireReceiver(exporter);
  const events = sealFacts(
    [
      {
        timestamp: toTimestamp(exporter.clock.nowUs()),
        event_type: 'system.test',
        action: 'audit_export_test',
        severity: 'INFO',
        tenant_id: caller.tenant,
        identity: caller.principalId || caller.submitterId,
      },
    ],
    { seq: 0, hash: '' },
  );
  const delivery = await receiver.deliver(events);
  if (delivery.kind === 'delivered')
    return { success: true, message: `the ${exporter.kind} receiver accepted a test event` };
  return { success: false, message: delivery.reason };
}

import { readControls, soc2Controls, type Controls } from '@svc/audit-formats';
import type { License } from '@svc/identity';
import type { Loop } from '@svc/platform';
import { StartError, type ApiEnv, type auditMetrics, type Boot, type Handles } from '@svc/runtime';
import { keys, type Store } from '@svc/store';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { publishAnchors } from './anchors/publish-anchors';
import { timestampAnchor } from './anchors/timestamp-anchor';
import { webhookAnchor } from './anchors/webhook-anchor';
import type { Anchor } from './anchors/anchor';
import type { ExportDeps } from './export/export-events';
import { ExportMemory } from './export/kept-rows';
import { ExportStateRepository } from './exporter/export-state.repository';
import { Exporter } from './exporter/exporter';
import type { ExporterStatus } from './exporter/exporter-routes';
import { openReceiver, type ReceiverEnv } from './exporter/open-receiver';
import type { Audit } from './open-audit';
import { HoldSweep } from './legal-holds/sweep-holds';
import { trimChains } from './retention/trim-chains';

type ExportEnv = ReceiverEnv &
  Pick<
    ApiEnv,
    | 'auditExportMaxRetries'
    | 'auditAnchorIntervalMs'
    | 'auditAnchorWebhookUrl'
    | 'auditAnchorWebhookSecret'
    | 'auditAnchorTsaUrl'
    | 'auditAnchorTsaCa'
    | 'soc2MappingPath'
    | 'instanceId'
  >;

/** Exports, the exporter and retention of the audit chains. */
export interface AuditExport {
  exports: Omit<ExportDeps, 'store'>;
  exporter: ExporterStatus;
  /** Delivers events to the receiver, and removes expired ones, each on one replica. */
  loops(owner: string): Loop[];
}

export interface AuditExportParts {
  store: Pick<Store, 'audit' | 'lease' | 'legalHolds' | 'redis'>;
  license: Pick<License, 'entitlements'>;
  metrics: Handles<typeof auditMetrics>;
  audit: Pick<Audit, 'sealer' | 'verification'>;
}

/** Of all exports of a process. */
const EXPORT_MEMORY_BYTES = 128 * 1_024 * 1_024;
const EXPORT_EVERY_MS = 1_000;
/** Longer than a run of the exporter with its last delivery. */
const EXPORT_LEASE_MS = 60_000;
const HOLDS_EVERY_MS = 1_000;
/** Longer than a run of the sweep. */
const HOLDS_LEASE_MS = 60_000;
const TRIM_EVERY_MS = 3_600_000;

/** @throws StartError when a file of the settings cannot be used */
export function openAuditExport(
  { env, clock, log, build }: Pick<Boot<ExportEnv>, 'env' | 'clock' | 'log' | 'build'>,
  { store, license, metrics, audit }: AuditExportParts,
): AuditExport {
  const origin = { host: hostname(), process: env.instanceId };
  const { receiver, settings = {} } = openReceiver(env, { clock, origin }) ?? {};
  const state = new ExportStateRepository(store.redis, env.auditExportType);
  const { retentionHours } = audit.verification;
  const anchors = openAnchors(env, { clock, store });
  const exportLoop = (owner: string): Loop[] => {
    if (!receiver) return [];
    const exporter = new Exporter({
      store: store.audit,
      state,
      receiver,
      clock,
      maxRetries: env.auditExportMaxRetries,
      isEntitled: () => license.entitlements().siem_export,
      onDelivered: (events) => metrics.auditExporterEvents.inc({ outcome: 'delivered' }, events),
      onDead: ({ tenant, event }, reason) => {
        metrics.auditExporterEvents.inc({ outcome: 'dead_letter' });
        log.error('the receiver of audit events refuses an event; it is in the dead letters', {
          tenant,
          id: event.id,
          reason,
        });
      },
      onLost: (tenant, events) => {
        metrics.auditBatchDrops.inc(events);
        log.error('audit events were removed before they were exported', { tenant, events });
      },
      onPending: (events) => metrics.auditExporterPending.set(events),
      onUnavailable: (reason) =>
        log.oncePer('audit-exporter', 60_000).warn('the receiver of audit events is unavailable', { reason }),
    });
    return [
      {
        name: 'audit-exporter',
        everyMs: EXPORT_EVERY_MS,
        lease: store.lease(keys.auditExporterLease(), owner, EXPORT_LEASE_MS),
        run: () => exporter.run(),
        standBy: () => exporter.forget(),
      },
    ];
  };
  const holdLoop = (owner: string): Loop => {
    const sweep = new HoldSweep({
      holds: store.legalHolds,
      clock,
      onSwept: (kind, records) => metrics.legalHoldRecords.inc({ kind }, records),
    });
    return {
      name: 'legal-holds',
      everyMs: HOLDS_EVERY_MS,
      lease: store.lease(keys.holdSweepLease(), owner, HOLDS_LEASE_MS),
      run: () => sweep.run(),
      standBy: () => sweep.forget(),
    };
  };
  return {
    exports: {
      clock,
      license,
      verification: { ...audit.verification, sealer: audit.sealer },
      controls: readMapping(env.soc2MappingPath),
      version: build.version,
      memory: new ExportMemory(EXPORT_MEMORY_BYTES),
      onExported: (format, status, events) => {
        metrics.auditExports.inc({ format, status });
        metrics.auditExportEvents.observe({ format }, events);
      },
      onFailure: (error) => log.warn('an export of audit events was not completed', { error }),
    },
    exporter: { kind: env.auditExportType, receiver, settings, state, license, clock, retentionHours },
    loops: (owner) => [
      ...exportLoop(owner),
      ...anchors.map((anchor) => ({
        name: `audit-anchors-${anchor.kind}`,
        everyMs: env.auditAnchorIntervalMs,
        lease: store.lease(keys.auditAnchorLease(anchor.kind), owner, 2 * env.auditAnchorIntervalMs),
        run: () =>
          publishAnchors({
            store: store.audit,
            anchor,
            onFailure: (error) => {
              metrics.auditFailures.inc({ reason: 'anchor' });
              log.warn('a checkpoint of an audit chain was not published', { error, to: anchor.kind });
            },
          }),
      })),
      holdLoop(owner),
      {
        name: 'audit-retention',
        everyMs: TRIM_EVERY_MS,
        lease: store.lease(keys.auditRetentionLease(), owner, 2 * TRIM_EVERY_MS),
        run: () =>
          trimChains({
            store,
            clock,
            retentionHours,
            onTrimmed: (_tenant, events) => metrics.auditTrimmed.inc(events),
            onFault: (tenant, gap) => {
              metrics.auditFailures.inc({ reason: 'retention' });
              log.error('expired audit events do not verify, so they are kept', { tenant, gap });
            },
          }),
      },
    ],
  };
}

/** @throws StartError */
function openAnchors(
  env: ExportEnv,
  { clock, store }: Pick<Boot<ExportEnv>, 'clock'> & Pick<AuditExportParts, 'store'>,
): Anchor[] {
  const { production, auditAnchorWebhookUrl: webhook, auditAnchorTsaUrl: tsa, auditAnchorTsaCa: ca } = env;
  return [
    ...(webhook === undefined ? [] : [webhookAnchor({ clock, production }, webhook, env.auditAnchorWebhookSecret)]),
    ...(tsa === undefined ? [] : [timestampAnchor({ production, store: store.audit }, tsa, readCertificates(ca))]),
  ];
}

/** @throws StartError */
function readCertificates(path: string | undefined): Buffer[] {
  if (path === undefined) return [];
  try {
    const blocks = readFileSync(path, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) throw new Error('it has no certificate');
    return blocks.map((pem) => new X509Certificate(pem).raw);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `timestamps cannot be verified: ${why}`,
      'SVC_AUDIT_ANCHOR_TSA_CA',
      'Name a file of certificates (PEM).',
    );
  }
}

/** @throws StartError */
function readMapping(path: string | undefined): Controls {
  if (path === undefined) return soc2Controls;
  try {
    return readControls(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const fix = 'Correct the file, or unset it; see docs/reference/audit.md#controls.';
    throw new StartError(
      `the mapping of audit events to controls cannot be used: ${why}`,
      'SVC_SOC2_MAPPING_PATH',
      fix,
    );
  }
}

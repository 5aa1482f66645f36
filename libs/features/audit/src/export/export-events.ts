import type { SignedCheckpoint } from '@svc/audit-chain';
import { controlFinder, controlLegend, readFacts, type Controls } from '@svc/audit-formats';
import {
  auditExportTypes,
  type AuditExportFormat,
  type AuditExportQuery,
  type AuditVerification,
  type Caller,
} from '@svc/contract';
import { ByteStream } from '@svc/http';
import type { License } from '@svc/identity';
import type { Clock } from '@svc/platform';
import {
  describeAct,
  type AuditRepository,
  type ConfigRepository,
  type LegalHoldRepository,
  type StoredAuditEvent,
} from '@svc/store';
import { chainTenant } from '../chain/chain-scope';
import { verifyPart, type VerifyDeps } from '../chain/verify-chain';
import { openWriter, type ExportWriter } from './export-lines';
import { readExportQuery, rowFits, type ExportRequest } from './export-query';
import { KeptRows, RowBlocks, type ExportMemory, type RowBlock } from './kept-rows';
import { readPolicyWindows } from './policy-windows';

export interface ExportDeps {
  store: {
    audit: VerifyDeps['store']['audit'] & Pick<AuditRepository, 'newestCheckpoint' | 'record'>;
    config: Pick<ConfigRepository, 'earlier'>;
    legalHolds: Pick<LegalHoldRepository, 'isHeld'>;
  };
  clock: Pick<Clock, 'nowMs'>;
  license: Pick<License, 'entitlements'>;
  verification: Omit<VerifyDeps, 'store'>;
  controls: Controls;
  /** Of the product. */
  version: string;
  memory: ExportMemory;
  /** The end of an export, after its last byte. */
  onExported(format: AuditExportFormat, status: 'complete' | 'failed', events: number): void;
  onFailure(error: unknown): void;
}

/** Rows of one export. */
const MAX_ROWS = 1_000_000;
const MAX_ROWS_WITHOUT_SIEM = 10_000;
const BATCH = 2_000;

interface ExportPlan extends ExportRequest {
  tenant: string;
  /** Rows that the license permits. */
  cap: number;
}

/**
 * Exports the events of a tenant between two times, oldest first. The range is verified and counted for the manifest, which comes
 * first, and then sent. Its first rows are written during the verification and kept in memory until its end; the events of the
 * others are read again.
 *
 * @throws tenant_access_denied, and those of `readExportQuery`
 */
export async function exportEvents(
  deps: ExportDeps,
  caller: Caller,
  requestId: string,
  query: AuditExportQuery,
): Promise<ByteStream> {
  const { siem_export } = deps.license.entitlements();
  const tenant = chainTenant(caller, query.tenant);
  const nowMs = deps.clock.nowMs();
  const request = readExportQuery(query, { nowMs, oldestMs: await oldestKept(deps, tenant, nowMs) });
  const plan = { ...request, tenant, cap: siem_export ? MAX_ROWS : MAX_ROWS_WITHOUT_SIEM };
  await recordExport(deps, caller, requestId, plan);
  const writer = openWriter(plan.format, {
    controls: controlFinder(deps.controls),
    version: deps.version,
    isExcel: plan.isExcel,
  });
  return new ByteStream((signal) => writeExport(deps, plan, writer, signal), {
    type: auditExportTypes[plan.format],
    headers: buildHeaders(plan, writer.extension),
  });
}

/** Begin of the time for which events are kept; undefined = all, without retention or under a legal hold. */
async function oldestKept(deps: ExportDeps, tenant: string, nowMs: number): Promise<number | undefined> {
  const hours = deps.verification.retentionHours();
  if (hours === undefined || (await deps.store.legalHolds.isHeld(tenant))) return undefined;
  return nowMs - hours * 3_600_000;
}

/** The gate records the export in the chain of the caller's tenant; that of another tenant must show it as well. */
async function recordExport(deps: ExportDeps, caller: Caller, requestId: string, plan: ExportPlan): Promise<void> {
  const extra = {
    format: plan.format,
    from: new Date(plan.fromMs).toISOString(),
    to: new Date(plan.toMs).toISOString(),
    ...Object.fromEntries(Object.entries(plan.rowFilter).map(([name, value]) => [`filter_${name}`, value])),
    resource_type: 'tenant',
    resource_id: plan.tenant,
  };
  describeAct({}, extra);
  if (plan.tenant === caller.tenant) return;
  await deps.store.audit.record(plan.tenant, {
    event_type: 'audit.export',
    action: 'audit.export',
    severity: 'MEDIUM',
    identity: caller.principalId || caller.submitterId,
    extra: { ...extra, request_id: requestId, role: caller.role, actor_tenant: caller.tenant },
  });
}

function buildHeaders(plan: ExportPlan, extension: string): Record<string, string> {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
  const tenant = plan.tenant.replace(/[^\w.-]/g, '_');
  const file = `svc-audit-${tenant}-${day(plan.fromMs)}-${day(plan.toMs)}.${extension}`;
  const filters = Object.entries(plan.rowFilter).map(([name, value]) => [headerName(name), value]);
  return {
    'Content-Disposition': `attachment; filename="${file}"`,
    'X-Svc-Export-Format': plan.format,
    'X-Svc-Tenant': tenant,
    'Cache-Control': 'no-store',
    ...Object.fromEntries(filters),
  };
}

/** `event_type` → `X-Svc-Export-Filter-Event-Type` */
const headerName = (filter: string): string =>
  `X-Svc-Export-Filter-${filter
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('-')}`;

async function* writeExport(
  deps: ExportDeps,
  plan: ExportPlan,
  writer: ExportWriter,
  signal: AbortSignal,
): AsyncGenerator<string | Uint8Array> {
  const now = () => new Date(deps.clock.nowMs()).toISOString();
  const kept = new KeptRows(deps.memory);
  // A failure here is the error of the request: nothing was sent yet.
  const survey = await surveyRange(deps, plan, writer, kept).catch((error: unknown) => {
    kept.release();
    throw error;
  });
  const counts = {
    event_count: survey.count,
    max_events_cap: plan.cap,
    checkpoint: survey.checkpoint,
  };
  let written = 0;
  let status: 'complete' | 'failed' = 'failed';
  try {
    yield writer.begin({
      generated_at: now(),
      tenant_id: plan.tenant,
      from: new Date(plan.fromMs).toISOString(),
      to: new Date(plan.toMs).toISOString(),
      format: plan.format,
      soc2_legend: controlLegend(deps.controls),
      chain_verification: survey.verification,
      policy_snapshots: await readPolicyWindows(deps.store, plan.tenant, plan),
      ...counts,
      truncated_at_max: survey.isTruncated,
      retention_boundary_seq: survey.verification.retention_boundary_seq,
      row_filter: plan.rowFilter,
      row_filter_applied: Object.keys(plan.rowFilter).length > 0,
    });
    for await (const { bytes, rows } of readRows(deps, plan, writer, { ...survey, kept })) {
      if (signal.aborted) throw new Error('the export was stopped');
      written += rows;
      yield bytes;
    }
    if (written !== survey.count) throw new Error('events were removed while they were exported');
    yield writer.end('footer', { ...counts, truncated: survey.isTruncated, generated_at: now() });
    status = 'complete';
  } catch (error) {
    deps.onFailure(error);
    yield writer.end('error', { error: 'the export is incomplete; repeat it', at: now(), events_written: written });
  } finally {
    kept.release();
    deps.onExported(plan.format, status, written);
  }
}

interface Survey {
  verification: AuditVerification;
  /** Rows to export. */
  count: number;
  isTruncated: boolean;
  /** Id of the last event that was counted, so that none is exported that came later; '' = none. */
  lastId: string;
  checkpoint: SignedCheckpoint | null;
}

async function surveyRange(deps: ExportDeps, plan: ExportPlan, writer: ExportWriter, kept: KeptRows): Promise<Survey> {
  const fits = rowFits(plan.rowFilter);
  const hasFilter = Boolean(plan.rowFilter.event_type ?? plan.rowFilter.severity ?? plan.rowFilter.category);
  const most = Math.min(plan.cap, plan.limit ?? plan.cap);
  let [matching, lastId] = [0, ''];
  const verification = await verifyPart({ ...deps.verification, store: deps.store }, plan.tenant, plan, (event) => {
    lastId = event.id;
    const isKept = !kept.isFull && matching < most;
    if (!hasFilter && !isKept) {
      matching += 1;
      return;
    }
    const facts = readFacts(event.text);
    if (!fits(facts)) return;
    matching += 1;
    if (isKept) kept.add(writer.event(event, facts), event.id);
  });
  kept.end();
  const checkpoint = (await deps.store.audit.newestCheckpoint(plan.tenant)) ?? null;
  return { verification, count: Math.min(matching, most), isTruncated: matching > most, lastId, checkpoint };
}

/** The rows in blocks: those that are kept, then the others. The next events are read while others are written. */
async function* readRows(
  { store }: ExportDeps,
  plan: ExportPlan,
  writer: ExportWriter,
  { count, lastId, kept }: Survey & { kept: KeptRows },
): AsyncGenerator<RowBlock> {
  let [left, from] = [count, String(plan.fromMs)];
  for (let block = kept.next(); block; block = kept.next()) {
    yield block;
    left -= block.rows;
    from = `(${block.lastId}`;
  }
  const fits = rowFits(plan.rowFilter);
  const blocks = new RowBlocks();
  const next = (position: string) => store.audit.range(plan.tenant, position, lastId, BATCH);
  for (let ahead = left > 0 ? next(from) : undefined; ahead && left > 0;) {
    const batch: StoredAuditEvent[] = await ahead;
    const last = batch.at(-1);
    ahead = last && next(`(${last.id}`);
    // Read in vain after the last batch.
    ahead?.catch(() => undefined);
    for (const stored of batch) {
      const facts = readFacts(stored.text);
      if (!fits(facts)) continue;
      left -= 1;
      const block = blocks.add(writer.event(stored, facts), stored.id);
      if (block) yield block;
      if (left === 0) break;
    }
  }
  const rest = blocks.end();
  if (rest) yield rest;
}

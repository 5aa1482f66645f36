import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { listCheckpoints, listTimestamps, proveConsistency, proveEvent, type ProofDeps } from './chain/prove';
import { readAuditEvents, type ReadDeps } from './chain/read-events';
import type { verifier } from './chain/verify-chain';
import { exportEvents, type ExportDeps } from './export/export-events';
import { discardDeadLetter, listDeadLetters, retryDeadLetter } from './exporter/dead-letters';
import { readExportConfig, readExportHealth, testExport, type ExporterStatus } from './exporter/exporter-routes';
import { createLegalHold, listLegalHolds, releaseLegalHold, type LegalHoldDeps } from './legal-holds/legal-holds';
import { listPolicyAudit } from './policy-audit';

/** Dependencies of these handlers. */
export interface AuditContext {
  policyDocuments: Parameters<typeof listPolicyAudit>[0];
  audit: ReadDeps & ProofDeps & { verify: ReturnType<typeof verifier> };
  auditExports: ExportDeps;
  auditExporter: ExporterStatus;
  legalHolds: LegalHoldDeps;
}

const handle = handlersFor<AuditContext>();

/** The audit chain, and the audit of policy changes. */
export const auditRoutes = [
  handle(contract.policyAudit, ({ query, caller, ctx }) => listPolicyAudit(ctx.policyDocuments, caller, query)),
  handle(contract.auditEvents, ({ query, caller, requestId, ctx }) =>
    readAuditEvents(ctx.audit, caller, requestId, query),
  ),
  handle(contract.verifyAudit, ({ query, caller, ctx }) => ctx.audit.verify(caller, query)),
  handle(contract.listCheckpoints, ({ query, caller, ctx }) => listCheckpoints(ctx.audit, caller, query)),
  handle(contract.listAuditTimestamps, ({ query, caller, ctx }) => listTimestamps(ctx.audit, caller, query)),
  handle(contract.proveAuditEvent, ({ params, query, caller, ctx }) =>
    proveEvent(ctx.audit, caller, Number(params.seq), query),
  ),
  handle(contract.proveAuditConsistency, ({ query, caller, ctx }) => proveConsistency(ctx.audit, caller, query)),
  handle(contract.exportAudit, ({ query, caller, requestId, ctx }) =>
    exportEvents(ctx.auditExports, caller, requestId, query),
  ),
  handle(contract.auditExportHealth, ({ caller, ctx }) => readExportHealth(ctx.auditExporter, caller)),
  handle(contract.auditExportConfig, async ({ ctx }) => readExportConfig(ctx.auditExporter)),
  handle(contract.testAuditExport, ({ caller, ctx }) => testExport(ctx.auditExporter, caller)),
  handle(contract.listAuditDeadLetters, ({ query, caller, ctx }) => listDeadLetters(ctx.auditExporter, caller, query)),
  handle(contract.retryAuditDeadLetter, ({ params, caller, ctx }) =>
    retryDeadLetter(ctx.auditExporter, caller, params.id),
  ),
  handle(contract.discardAuditDeadLetter, ({ params, caller, ctx }) =>
    discardDeadLetter(ctx.auditExporter, caller, params.id),
  ),
  handle(contract.createLegalHold, async ({ body, caller, requestId, ctx }) =>
    createLegalHold(ctx.legalHolds, caller, requestId, body),
  ),
  handle(contract.listLegalHolds, ({ query, caller, ctx }) => listLegalHolds(ctx.legalHolds, caller, query)),
  handle(contract.releaseLegalHold, ({ params, caller, requestId, ctx }) =>
    releaseLegalHold(ctx.legalHolds, caller, requestId, params.id),
  ),
];

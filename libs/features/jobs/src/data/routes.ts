import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { SubmitDeps } from '../submit-job';
import { type ArtifactDeps, getArtifact, putArtifact } from './artifacts';
import { putJobArtifact, putJobResult, readJobInput } from './data-urls';
import { effectiveLimit } from './artifact-limit';
import { readMemory } from './read-memory';
import { type EffectReportDeps, reportEffect } from './report-effect';

/** Dependencies of these handlers. */
export interface DataContext {
  artifacts: ArtifactDeps;
  dataUrls: EffectReportDeps;
  submit: SubmitDeps;
}

const handle = handlersFor<DataContext>();

/** Artifacts and memory. */
export const dataRoutes = [
  handle(contract.putArtifact, ({ body, query, header, caller, ctx }) =>
    putArtifact(ctx.artifacts, caller, body, effectiveLimit(query.max_bytes, header('X-Max-Artifact-Bytes'))),
  ),
  handle(contract.getArtifact, ({ params, query, header, caller, ctx }) =>
    getArtifact(ctx.artifacts, caller, params.ptr, effectiveLimit(query.max_bytes, header('X-Max-Artifact-Bytes'))),
  ),
  handle(contract.readMemory, ({ query, caller, ctx }) => readMemory(ctx.submit, caller, query.ptr ?? query.key)),
  handle(contract.readJobInput, async ({ params, query, ctx }) =>
    Buffer.from(await readJobInput(ctx.dataUrls, params.id, query.token)),
  ),
  handle(contract.putJobResult, ({ params, query, bytes, ctx }) =>
    putJobResult(ctx.dataUrls, params.id, query.token, bytes),
  ),
  handle(contract.putJobArtifact, ({ params, query, bytes, ctx }) =>
    putJobArtifact(ctx.dataUrls, params.id, query, bytes),
  ),
  handle(contract.reportEffect, ({ params, query, body, ctx }) =>
    reportEffect(ctx.dataUrls, params.id, query.token, body),
  ),
];

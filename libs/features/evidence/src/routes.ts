import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import { createBundle, type EvidenceDeps } from './create-bundle';

/** Dependencies of these handlers. */
export interface EvidenceContext {
  evidence: EvidenceDeps;
}

const handle = handlersFor<EvidenceContext>();

export const evidenceRoutes = [
  handle(contract.createEvidence, async ({ body, caller, requestId, ctx }) => {
    const { archive, events, sha256, fileName } = await createBundle(ctx.evidence, caller, requestId, body);
    return answer(archive, {
      headers: {
        'Content-Disposition': `attachment; filename="${fileName}"`,
        'X-Svc-Evidence-Events': String(events),
        'X-Svc-Evidence-SHA256': sha256,
      },
    });
  }),
];

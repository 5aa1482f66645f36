import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import type { GrantSigner } from '@svc/identity';
import { createWorkerCredential, type CredentialDeps } from './create-credential';
import { listWorkerCredentials } from './list-credentials';
import { revokeWorkerSession } from './revoke-session';
import { revokeWorkerCredential } from './revoke-credential';

/** Dependencies of these handlers. */
export interface WorkerTrustContext {
  workerTrust: CredentialDeps & {
    /** Undefined: dispatches have no grants. */
    grants: Pick<GrantSigner, 'keyId' | 'publicKeyPem'> | undefined;
  };
}

const handle = handlersFor<WorkerTrustContext>();

/** Worker credentials. */
export const workerTrustRoutes = [
  handle(contract.listGrantKeys, ({ ctx }) => {
    const { grants } = ctx.workerTrust;
    return Promise.resolve({ items: grants ? [{ key_id: grants.keyId, public_key: grants.publicKeyPem }] : [] });
  }),
  handle(contract.listWorkerCredentials, async ({ caller, ctx }) => ({
    items: await listWorkerCredentials(ctx.workerTrust, caller),
  })),
  handle(contract.createWorkerCredential, async ({ body, caller, ctx }) => {
    const { view, created } = await createWorkerCredential(ctx.workerTrust, caller, body);
    return answer(view, { status: created ? 201 : 200 });
  }),
  handle(contract.revokeWorkerSession, ({ params, caller, ctx }) =>
    revokeWorkerSession(ctx.workerTrust, caller, params.id),
  ),
  handle(contract.revokeWorkerCredential, ({ params, caller, ctx }) =>
    revokeWorkerCredential(ctx.workerTrust, caller, params.worker_id),
  ),
];

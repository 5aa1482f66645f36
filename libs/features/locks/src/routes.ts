import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { acquireLock, getLock, type LockDeps, releaseLock, renewLock } from './hold-lock';
import { listLocks } from './list-locks';

/** Dependencies of these handlers. */
export interface LockContext {
  locks: LockDeps;
}

const handle = handlersFor<LockContext>();

/** Locks. */
export const lockRoutes = [
  handle(contract.getLock, ({ query, caller, ctx }) => getLock(ctx.locks, caller, query.resource)),
  handle(contract.acquireLock, ({ body, caller, ctx }) => acquireLock(ctx.locks, caller, body)),
  handle(contract.releaseLock, ({ body, caller, ctx }) => releaseLock(ctx.locks, caller, body)),
  handle(contract.renewLock, ({ body, caller, ctx }) => renewLock(ctx.locks, caller, body)),
  handle(contract.listLocks, ({ caller, ctx }) => listLocks(ctx.locks, caller)),
];

import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { type FleetDeps, getPool, getWorker, listPools, listWorkers } from './read-fleet';

/** Dependencies of these handlers. */
export interface FleetContext {
  fleet: FleetDeps;
}

const handle = handlersFor<FleetContext>();

/** Workers and pools. */
export const fleetRoutes = [
  handle(contract.listWorkers, async ({ caller, ctx }) => ({ items: await listWorkers(ctx.fleet, caller) })),
  handle(contract.getWorker, ({ params, caller, ctx }) => getWorker(ctx.fleet, params.id, caller)),
  handle(contract.listPools, async ({ ctx }) => ({ items: await listPools(ctx.fleet) })),
  handle(contract.getPool, ({ params, caller, ctx }) => getPool(ctx.fleet, params.name, caller)),
];

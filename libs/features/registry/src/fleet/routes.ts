import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { type FleetDeps, getWorker, listWorkers } from './read-fleet';

/** Dependencies of these handlers. */
export interface FleetContext {
  fleet: FleetDeps;
}

const handle = handlersFor<FleetContext>();

/** Workers. */
export const fleetRoutes = [
  handle(contract.listWorkers, async ({ caller, ctx }) => ({ items: await listWorkers(ctx.fleet, caller) })),
  handle(contract.getWorker, ({ params, caller, ctx }) => getWorker(ctx.fleet, params.id, caller)),
];

import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import type { FleetDeps } from '../fleet/read-fleet';
import type { PoolWriteDeps } from './change-pools';
import { drainPool } from './drain-pool';
import { mapTopic, unmapTopic } from './map-topic';
import { getPool, listPools } from './read-pools';
import { changePool, createPool, removePool } from './write-pools';

/** Dependencies of these handlers. */
export interface PoolContext {
  pools: FleetDeps & PoolWriteDeps;
}

const handle = handlersFor<PoolContext>();

/** Worker pools. */
export const poolRoutes = [
  handle(contract.listPools, async ({ ctx }) => ({ items: await listPools(ctx.pools) })),
  handle(contract.getPool, ({ params, caller, ctx }) => getPool(ctx.pools, params.name, caller)),
  handle(contract.createPool, ({ params, body, caller, ctx }) => createPool(ctx.pools, caller, params.name, body)),
  handle(contract.changePool, ({ params, body, caller, ctx }) => changePool(ctx.pools, caller, params.name, body)),
  handle(contract.removePool, ({ params, query, caller, ctx }) => removePool(ctx.pools, caller, params.name, query)),
  handle(contract.drainPool, ({ params, body, caller, ctx }) => drainPool(ctx.pools, caller, params.name, body)),
  handle(contract.mapTopic, ({ params, caller, ctx }) => mapTopic(ctx.pools, caller, params.name, params.topic)),
  handle(contract.unmapTopic, ({ params, caller, ctx }) => unmapTopic(ctx.pools, caller, params.name, params.topic)),
];

import { getPool as endpoint } from '@svc/contract';
import { getPool } from '@svc/registry';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, ctx }) => getPool(ctx.fleet, params.name));

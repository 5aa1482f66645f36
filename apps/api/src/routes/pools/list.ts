import { listPools as endpoint } from '@svc/contract';
import { listPools } from '@svc/registry';
import { handle } from '../../context';

export const list = handle(endpoint, async ({ ctx }) => ({ items: await listPools(ctx.fleet) }));

import { listPools as endpoint } from '@svc/contract';
import { listPools } from '@svc/services';
import { handle } from '../../context';

export const list = handle(endpoint, async ({ ctx }) => ({ items: await listPools(ctx.fleet) }));

import { listWorkers as endpoint } from '@svc/contract';
import { listWorkers } from '@svc/registry';
import { handle } from '../../context';

export const list = handle(endpoint, async ({ ctx }) => ({ items: await listWorkers(ctx.fleet) }));

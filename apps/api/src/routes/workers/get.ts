import { getWorker as endpoint } from '@svc/contract';
import { getWorker } from '@svc/registry';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, ctx }) => getWorker(ctx.fleet, params.id));

import { getJob as endpoint } from '@svc/contract';
import { awaitJob } from '@svc/jobs';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, query, caller, ctx }) =>
  awaitJob(ctx.reads, caller.scope, params.id, query.wait_ms),
);

import { workerJobs as endpoint } from '@svc/contract';
import { workerJobs } from '@svc/jobs';
import { handle } from '../../context';

export const jobs = handle(endpoint, async ({ params, query, caller, ctx }) => ({
  items: await workerJobs(ctx.fleet, caller, params.id, query.limit),
}));

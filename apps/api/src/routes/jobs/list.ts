import { listJobs as endpoint } from '@svc/contract';
import { listJobs } from '@svc/jobs';
import { handle } from '../../context';

export const list = handle(endpoint, ({ query, caller, ctx }) => listJobs(ctx.submit, caller, query));

import { listRuns as endpoint } from '@svc/contract';
import { listRuns } from '@svc/workflows';
import { handle } from '../../context';

export const list = handle(endpoint, ({ query, caller, ctx }) => listRuns(ctx.runs, caller, query));

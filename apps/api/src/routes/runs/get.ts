import { getRun as endpoint } from '@svc/contract';
import { awaitRunEnd } from '@svc/workflows';
import { handle } from '../../context';

export const get = handle(endpoint, ({ params, query, caller, ctx }) =>
  awaitRunEnd(ctx.runs, caller, params.id, query.wait_ms),
);

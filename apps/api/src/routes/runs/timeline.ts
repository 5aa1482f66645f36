import { runTimeline as endpoint } from '@svc/contract';
import { runTimeline } from '@svc/workflows';
import { handle } from '../../context';

export const timeline = handle(endpoint, ({ params, query, caller, ctx }) =>
  runTimeline(ctx.runs, caller, params.id, query.limit),
);

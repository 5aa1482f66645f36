import { sendSignal } from '@svc/contract';
import { signalRun } from '@svc/workflows';
import { handle } from '../../context';

export const signal = handle(sendSignal, ({ params, body, caller, ctx }) =>
  signalRun(ctx.runs, caller, {
    runId: params.id,
    name: params.name,
    id: body.signal_id,
    ...(body.payload !== undefined && { payload: body.payload }),
  }),
);

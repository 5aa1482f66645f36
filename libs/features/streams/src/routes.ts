import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { findJob } from '@svc/jobs';
import { openJobEvents, openRunEvents, requireUpgrade, type EventDeps } from './open-events';

/** Dependencies of these handlers. */
export interface StreamContext {
  events: EventDeps;
}

const handle = handlersFor<StreamContext>();

/** Streams of events. WebSocket connections are served by the upgrade of the gateway. */
export const streamRoutes = [
  handle(contract.streamEvents, async () => requireUpgrade()),
  handle(contract.streamJob, async ({ params, caller, ctx }) => {
    await findJob(ctx.events, caller.scope, params.id);
    return requireUpgrade();
  }),
  handle(contract.streamSocketIo, async () => requireUpgrade()),
  handle(contract.jobEvents, ({ params, query, header, caller, ip, ctx }) =>
    openJobEvents(ctx.events, caller, {
      id: params.id,
      ip,
      lastEventId: header('Last-Event-ID') ?? query.last_event_id,
      follow: query.follow,
    }),
  ),
  handle(contract.runEvents, ({ params, query, header, caller, ip, ctx }) =>
    openRunEvents(ctx.events, caller, {
      id: params.id,
      ip,
      lastEventId: header('Last-Event-ID') ?? query.last_event_id,
      follow: query.follow,
    }),
  ),
];

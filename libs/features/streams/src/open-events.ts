import { AppError, type Caller } from '@svc/contract';
import { addressBucket, answer, EventStream } from '@svc/http';
import { findJob } from '@svc/jobs';
import type { Store } from '@svc/store';
import { requireFound } from '@svc/workflows';
import type { StreamHub } from './hub';
import { jobSubject } from './job-subject';
import { parsePosition } from './position';
import { readEvents, type EventSubject } from './read-events';
import { runSubject } from './run-subject';
import type { StreamLimits } from './stream-limits';

export interface EventDeps {
  store: Store;
  hub: StreamHub;
  limits: StreamLimits;
}

export interface EventsRequest {
  id: string;
  ip: string;
  /** Absent = from the first event. */
  lastEventId: string | undefined;
  follow: boolean;
}

/** @throws job_not_found, tenant_access_denied, too_many_streams */
export async function openJobEvents(deps: EventDeps, caller: Caller, request: EventsRequest) {
  await findJob(deps, caller.scope, request.id);
  return openEvents(deps, caller, request, jobSubject(deps.store, request.id));
}

/** @throws run_not_found, tenant_access_denied, too_many_streams */
export async function openRunEvents(deps: EventDeps, caller: Caller, request: EventsRequest) {
  requireFound(await deps.store.runs.head(caller.scope, request.id), 'run_not_found');
  return openEvents(deps, caller, request, runSubject(deps.store, request.id));
}

/** A browser reconnects after every end of a stream, unless the answer is 204. */
async function openEvents(
  { store, hub, limits }: EventDeps,
  caller: Caller,
  { ip, lastEventId, follow }: EventsRequest,
  subject: EventSubject,
) {
  const from = parsePosition(lastEventId);
  if (lastEventId !== undefined && (await isAtEnd(store, subject, from))) {
    return answer(undefined, { status: 204 });
  }
  const release = limits.take(caller.tenant, addressBucket(ip));
  const deps = { hub, logs: store.eventLogs };
  return new EventStream((signal) => readEvents(deps, subject, from, follow, signal), release);
}

async function isAtEnd(
  { eventLogs }: EventDeps['store'],
  subject: EventSubject,
  from: ReturnType<typeof parsePosition>,
): Promise<boolean> {
  const record = await subject.readRecord(from.record);
  if (!record.end || record.entries.length > 0 || record.dropped > 0) return false;
  const { events, dropped } = await eventLogs.read(subject.log, from.log, 1);
  // After its end the log expires.
  return events.length === 0 && (dropped === 0 || dropped === 'unknown');
}

/** The handler of a route that serves WebSocket connections only. @throws upgrade_required */
export function requireUpgrade(): never {
  throw new AppError('upgrade_required', {}, { Upgrade: 'websocket', Connection: 'Upgrade' });
}

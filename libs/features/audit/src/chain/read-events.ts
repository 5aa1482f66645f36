import { toAuditEvent } from '@svc/audit-chain';
import { AppError, getCategory, type AuditEventsQuery, type AuditEventView, type Caller } from '@svc/contract';
import type { AuditRepository, StoredAuditEvent } from '@svc/store';
import { chainTenant, readTime } from './chain-scope';
import type { Sealer } from './sealer';

export interface ReadDeps {
  store: { audit: Pick<AuditRepository, 'rangeBack' | 'record'> };
  sealer: Pick<Sealer, 'seal'>;
  /** Share of the reads that are recorded, 0 to 1. */
  readSampleRate: number;
  random: { number(): number };
}

const MAX_PAGE = 200;
const BATCH = 1_000;
/** Bounds the work for a page whose filters match rarely; the cursor continues. */
const MAX_SCANNED = 50_000;
const MAX_SEARCH_CHARS = 200;

/** A page of audit events, newest first. Contains everything recorded before the call. See docs/reference/audit.md#read. */
export async function readAuditEvents(
  deps: ReadDeps,
  caller: Caller,
  requestId: string,
  query: AuditEventsQuery,
): Promise<{ items: AuditEventView[]; next_cursor: string; returned: number }> {
  const tenant = chainTenant(caller, query.tenant);
  const { limit, from, start, fits } = readQuery(query);
  await deps.sealer.seal();
  const items: AuditEventView[] = [];
  let [position, next] = [start, ''];
  for (let scanned = 0; ;) {
    const batch = await deps.store.audit.rangeBack(tenant, position, from, BATCH);
    scanned += batch.length;
    for (const stored of batch) {
      const item = toEventView(stored);
      if (fits(item, stored.text)) items.push(item);
      if (items.length === limit) {
        next = stored.id;
        break;
      }
    }
    const last = batch.at(-1);
    if (next !== '' || !last || batch.length < BATCH) break;
    position = `(${last.id}`;
    if (scanned >= MAX_SCANNED) {
      next = last.id;
      break;
    }
  }
  if (next !== '' && (await deps.store.audit.rangeBack(tenant, `(${next}`, from, 1)).length === 0) next = '';
  await recordRead(deps, caller, tenant, requestId, items.length);
  return { items, next_cursor: next, returned: items.length };
}

async function recordRead(
  deps: ReadDeps,
  caller: Caller,
  tenant: string,
  requestId: string,
  returned: number,
): Promise<void> {
  if (deps.readSampleRate <= 0 || deps.random.number() >= deps.readSampleRate) return;
  await deps.store.audit.record(tenant, {
    event_type: 'audit.read.events',
    action: 'audit.read',
    severity: 'INFO',
    identity: caller.principalId || caller.submitterId,
    extra: { request_id: requestId, role: caller.role, returned: String(returned) },
  });
}

const secretName = /secret|token|password|api[_-]?key|private[_-]?key/i;

/** An event as clients read it: keys of `extra` that name secrets are left out, in case a writer recorded one. */
export function toEventView(stored: StoredAuditEvent): AuditEventView {
  const { extra, ...event } = toAuditEvent(stored);
  const shown = Object.entries(extra ?? {}).filter(([key]) => !secretName.test(key));
  return { id: stored.id, ...event, ...(shown.length > 0 && { extra: Object.fromEntries(shown) }) };
}

interface Reading {
  limit: number;
  /** Stream ids between which events are read, the newer first. */
  start: string;
  from: string;
  fits(event: AuditEventView, text: string): boolean;
}

function readQuery(query: AuditEventsQuery): Reading {
  const { limit = '', cursor = '', category = '', search = '' } = query;
  if (limit !== '' && !/^[1-9]\d{0,8}$/.test(limit)) throw new AppError('audit_limit_invalid');
  if (cursor !== '' && !/^\d{1,15}-\d{1,15}$/.test(cursor)) throw new AppError('audit_cursor_invalid');
  if (category !== '' && category !== 'governance' && category !== 'routine')
    throw new AppError('audit_category_invalid');
  if (search.length > MAX_SEARCH_CHARS) {
    throw new AppError('audit_query_invalid', { error: `search must have at most ${MAX_SEARCH_CHARS} characters` });
  }
  const from = query.from ? readTime(query.from) : undefined;
  const to = query.to ? readTime(query.to) : undefined;
  if (query.from && from === undefined) throw new AppError('audit_from_invalid');
  if (query.to && to === undefined) throw new AppError('audit_to_invalid');
  if (from !== undefined && to !== undefined && from > to) throw new AppError('audit_range_invalid');
  return {
    limit: limit === '' ? 100 : Math.min(MAX_PAGE, Number(limit)),
    start: cursor === '' ? (to === undefined ? '+' : String(to)) : `(${cursor}`,
    from: from === undefined ? '-' : String(from),
    fits: eventFilter(query),
  };
}

/** Filters of events. All that are set must match. */
export function eventFilter(
  wanted: Pick<
    AuditEventsQuery,
    'event_type' | 'severity' | 'category' | 'search' | 'job_id' | 'run_id' | 'agent_id' | 'action' | 'identity'
  >,
): (event: AuditEventView, text: string) => boolean {
  const { event_type, severity, category, job_id, run_id, agent_id, action, identity } = wanted;
  const search = wanted.search?.toLowerCase();
  return (event, text) =>
    (!event_type || event.event_type === event_type) &&
    (!severity || event.severity === severity.toUpperCase()) &&
    (!category || getCategory(event.event_type) === category) &&
    (!job_id || event.job_id === job_id) &&
    (!run_id || event.extra?.['run_id'] === run_id) &&
    (!agent_id || event.agent_id === agent_id) &&
    (!action || event.action === action) &&
    (!identity || event.identity === identity) &&
    (!search || text.toLowerCase().includes(search));
}

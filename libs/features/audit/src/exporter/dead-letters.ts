import {
  AppError,
  everyTenant,
  type AuditDeadLetter,
  type Caller,
  type ListAuditDeadLettersQuery,
} from '@svc/contract';
import { describeAct } from '@svc/store';
import { chainTenant } from '../chain/chain-scope';
import { toEventView } from '../chain/read-events';
import type { DeadEvent } from './export-state.repository';
import { type ExporterStatus, requireReceiver } from './exporter-routes';

const PAGE_READ = 500;

/** Callers see the dead letters of their tenant, those with access to all tenants all of them. */
const maySee = ({ tenant, scope, allowCrossTenant }: Caller, letter: DeadEvent): boolean =>
  scope === everyTenant || allowCrossTenant || letter.tenant === tenant;

/** Newest first. @throws tenant_access_denied */
export async function listDeadLetters(
  { state }: Pick<ExporterStatus, 'state'>,
  caller: Caller,
  { limit, tenant: wanted, cursor }: ListAuditDeadLettersQuery,
): Promise<{ items: AuditDeadLetter[]; next_cursor: string }> {
  const tenant = wanted ? chainTenant(caller, wanted) : undefined;
  const found: DeadEvent[] = [];
  // One more than the page has, to know whether there is another. Bounded by the number of dead letters that are kept.
  for (let before = cursor; found.length <= limit;) {
    const rows = await state.deadLetters(before, PAGE_READ);
    found.push(...rows.filter((row) => (tenant === undefined ? maySee(caller, row) : row.tenant === tenant)));
    if (rows.length < PAGE_READ) break;
    before = rows.at(-1)?.id;
  }
  const items = found.slice(0, limit);
  return { items: items.map(toView), next_cursor: found.length > limit ? (items.at(-1)?.id ?? '') : '' };
}

const toView = ({ id, tenant, reason, event }: DeadEvent): AuditDeadLetter => {
  const at = new Date(Number(id.slice(0, id.indexOf('-')))).toISOString();
  return { id, tenant, at, reason, event: toEventView(event) };
};

/**
 * Delivers a dead letter once more, and removes it when the receiver accepts it.
 *
 * @throws audit_dead_letter_not_found, audit_exporter_missing, tier_limit_exceeded
 */
export async function retryDeadLetter(
  exporter: ExporterStatus,
  caller: Caller,
  id: string,
): Promise<{ success: boolean; message: string }> {
  const { tenant, event } = await findDeadLetter(exporter, caller, id);
  const receiver = requireReceiver(exporter);
  describeAct({}, { tenant, event_id: event.id });
  const delivery = await receiver.deliver([event]);
  if (delivery.kind !== 'delivered') return { success: false, message: delivery.reason };
  // After a crash here it is still listed, and a further retry delivers it again.
  await exporter.state.removeDead(id);
  return { success: true, message: `the ${exporter.kind} receiver accepted the event` };
}

/** @throws audit_dead_letter_not_found */
export async function discardDeadLetter(
  exporter: Pick<ExporterStatus, 'state'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const { tenant, event } = await findDeadLetter(exporter, caller, id);
  describeAct({}, { tenant, event_id: event.id });
  if (!(await exporter.state.removeDead(id))) throw new AppError('audit_dead_letter_not_found');
}

async function findDeadLetter(
  { state }: Pick<ExporterStatus, 'state'>,
  caller: Caller,
  id: string,
): Promise<DeadEvent> {
  const letter = await state.deadLetter(id);
  if (!letter || !maySee(caller, letter)) throw new AppError('audit_dead_letter_not_found');
  return letter;
}

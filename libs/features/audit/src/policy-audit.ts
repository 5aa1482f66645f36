import type { Caller, PolicyAuditEntry, PolicyAuditQuery, PolicyAuditView } from '@svc/contract';
import type { Clock, Random } from '@svc/platform';
import type { KeptSnapshots, Store } from '@svc/store';
import { outputFindings } from './policy-audit-output';

export interface PolicyAuditDeps {
  store: Pick<Store, 'policy'>;
  clock: Clock;
  random: Pick<Random, 'uuid'>;
}

/** The event as its writer knows it; actor and time are added. See docs/reference/policy.md#audit. */
export type PolicyChange = Pick<PolicyAuditEntry, 'action' | 'resource_type' | 'resource_id'> &
  Partial<Omit<PolicyAuditEntry, 'id' | 'created_at' | 'tenant_id' | 'actor_id' | 'role' | 'auth_source'>>;

/** Builds the entry of a caller's action. */
export const auditEntry = (
  { clock, random }: Pick<PolicyAuditDeps, 'clock' | 'random'>,
  caller: Caller,
  change: PolicyChange,
): PolicyAuditEntry => ({
  id: random.uuid(),
  resource_name: change.resource_id,
  bundle_ids: [],
  message: '',
  reason: '',
  extra: {},
  ...change,
  tenant_id: caller.tenant,
  actor_id: caller.principalId,
  role: caller.role,
  auth_source: caller.source,
  identity_source: caller.source,
  identity_label: caller.keyName,
  created_at: new Date(clock.nowMs()).toISOString(),
});

/** The same, in the form that is written together with a change of the bundles. */
export const buildAudit = (...args: Parameters<typeof auditEntry>): NonNullable<KeptSnapshots['audit']> => {
  const entry = auditEntry(...args);
  return { tenant: entry.tenant_id, entry: JSON.stringify(entry) };
};

/**
 * Appends a call that changed nothing to the policy audit of the caller's tenant. Such calls are bounded separately, so
 * that they never evict the entry of a change.
 */
export async function recordPolicyCall(
  deps: PolicyAuditDeps,
  caller: Caller,
  change: PolicyChange,
): Promise<PolicyAuditEntry> {
  const entry = auditEntry(deps, caller, change);
  await deps.store.policy.recordCall(entry.tenant_id, JSON.stringify(entry));
  return entry;
}

/**
 * The matching entries of the caller's tenant, newest first; for type `output`, its withheld results and their
 * resolutions.
 */
export async function listPolicyAudit(
  { store }: { store: Pick<Store, 'policy' | 'index'> },
  caller: Caller,
  { limit, offset, ...wanted }: PolicyAuditQuery,
): Promise<PolicyAuditView> {
  const { tenant } = caller;
  const recorded = await written(store, tenant);
  const entries = wanted.type === 'output' ? await withFindings({ store }, tenant, recorded) : recorded;
  const fitting = entries.filter((entry) => fits(entry, wanted));
  const items = fitting.slice(offset, offset + limit);
  return { items, total: fitting.length, has_more: offset + items.length < fitting.length, offset };
}

/** Withheld results and their resolutions, newest first. */
async function withFindings(
  deps: { store: Pick<Store, 'index'> },
  tenant: string,
  recorded: readonly PolicyAuditEntry[],
) {
  const outputs = recorded.filter(({ resource_type }) => resource_type === 'output');
  return newestFirst([...outputs, ...(await outputFindings(deps, tenant))]);
}

/** Changes and calls of a tenant, newest first. */
async function written({ policy }: Pick<Store, 'policy'>, tenant: string): Promise<PolicyAuditEntry[]> {
  const lists = await Promise.all([policy.audit(tenant), policy.calls(tenant)]);
  return newestFirst(lists.flat().map((text) => JSON.parse(text) as PolicyAuditEntry));
}

/** A stable sort: entries with the same time keep their order. */
const newestFirst = (entries: readonly PolicyAuditEntry[]): PolicyAuditEntry[] =>
  entries
    .map((entry) => ({ entry, atMs: Date.parse(entry.created_at) }))
    .sort((a, b) => b.atMs - a.atMs)
    .map(({ entry }) => entry);

function fits(entry: PolicyAuditEntry, wanted: Omit<PolicyAuditQuery, 'limit' | 'offset'>): boolean {
  const { rule_id, type, action, agent_id, after, before, search } = wanted;
  const atMs = Date.parse(entry.created_at);
  return (
    (!type || entry.resource_type === type) &&
    (!action || entry.action === action) &&
    (!agent_id || entry.agent_id === agent_id) &&
    (!rule_id || [entry.rule_id, entry.matched_rule].includes(rule_id)) &&
    (after === undefined || atMs >= after) &&
    (before === undefined || atMs <= before) &&
    (!search || JSON.stringify(entry).toLowerCase().includes(search.toLowerCase()))
  );
}

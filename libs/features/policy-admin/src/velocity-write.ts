import { AppError, tierLimit, type Caller, type VelocityBody, type VelocityRuleView } from '@svc/contract';
import { prepareBundle, type BundleRecord } from '@svc/policy';
import { writerName } from '@svc/identity';
import { bundleRecord, type PreparedContent, formatTime } from './bundle-content';
import { changeBundles, type StoredBundles } from './bundles-document';
import type { PolicyChange } from '@svc/audit';
import { type PolicyWriteDeps, requirePolicyWriter, getSigningKey } from './policy-deps';
import type { VelocityDeps } from './velocity-list';
import {
  asInvalidRule,
  invalidRule,
  isVelocityBundle,
  velocityBundle,
  velocityContent,
  velocityId,
  velocityView,
} from './velocity-rule';

export type VelocityWriteDeps = PolicyWriteDeps & VelocityDeps;

/**
 * Creates a velocity rule, in a bundle of its own. See docs/reference/policy.md#velocity.
 *
 * @throws tier_limit_exceeded, tenant_access_denied, velocity_rule_invalid, velocity_rule_conflict, policy_version_conflict,
 *   policy_signing_required
 */
export async function addVelocityRule(
  deps: VelocityWriteDeps,
  caller: Caller,
  body: VelocityBody,
): Promise<VelocityRuleView> {
  const most = deps.maxVelocityRules();
  requirePolicyWriter(deps, caller);
  const id = velocityId(body);
  return writeRule(deps, caller, { action: 'create', id, body }, (stored) => {
    if (Object.hasOwn(stored.raw, velocityBundle(id))) throw new AppError('velocity_rule_conflict');
    const current = Object.keys(stored.raw).filter(isVelocityBundle).length;
    if (most >= 0 && current >= most) throw full(current, most);
  });
}

const full = (current: number, allowed: number) =>
  tierLimit({
    message: `there are ${current} velocity rules and the plan allows ${allowed}`,
    limit: 'velocity_rule_count',
    current,
    allowed,
  });

/**
 * Replaces a velocity rule; it stays enabled or disabled unless the body says otherwise.
 *
 * @throws tenant_access_denied, velocity_rule_invalid, velocity_rule_not_found,
 *   policy_version_conflict, policy_signing_required
 */
export async function putVelocityRule(
  deps: VelocityWriteDeps,
  caller: Caller,
  { id, body }: { id: string; body: VelocityBody },
): Promise<VelocityRuleView> {
  requirePolicyWriter(deps, caller);
  if (body.id !== undefined && body.id !== id) throw invalidRule('id', 'must be that of the path, or left out');
  return writeRule(deps, caller, { action: 'edit', id, body }, ({ raw }) => {
    if (!Object.hasOwn(raw, velocityBundle(id))) throw new AppError('velocity_rule_not_found');
  });
}

/** @throws tenant_access_denied, velocity_rule_not_found, policy_version_conflict */
export async function removeVelocityRule(deps: VelocityWriteDeps, caller: Caller, id: string): Promise<void> {
  requirePolicyWriter(deps, caller);
  await changeBundles(deps, caller, ({ raw }) => {
    if (!Object.hasOwn(raw, velocityBundle(id))) throw new AppError('velocity_rule_not_found');
    return {
      set: new Map([[velocityBundle(id), undefined]]),
      result: undefined,
      entry: buildEntry({ action: 'delete', id }),
    };
  });
}

interface RuleWrite {
  action: 'create' | 'edit';
  id: string;
  body: VelocityBody;
}

async function writeRule(
  deps: VelocityWriteDeps,
  caller: Caller,
  { action, id, body }: RuleWrite,
  require: (stored: StoredBundles) => void,
): Promise<VelocityRuleView> {
  const bundleId = velocityBundle(id);
  const { content, document } = prepared(bundleId, velocityContent(id, body));
  const key = getSigningKey(deps);
  const base = await deps.basePolicy();
  const takenInFile = base.some(({ rules }) => rules.some((rule) => rule.id === id));
  const { message } = body;
  const author = writerName(caller, body.author);
  return changeBundles(deps, caller, (stored, nowMs) => {
    require(stored);
    if (takenInFile || isTaken(deps, stored, id)) throw new AppError('velocity_rule_conflict', { error: takenText });
    const replaced = stored.bundles.get(bundleId);
    const enabled = body.enabled ?? replaced?.enabled ?? true;
    const write = { enabled, author, ...(message && { message }), version: '1' };
    const written: BundleRecord = bundleRecord(content, write, { replaced, key, now: formatTime(nowMs) });
    const result = velocityView(id, written, document);
    if (!result) throw new Error(`the bundle written as ${bundleId} is not a velocity rule`);
    return { set: new Map([[bundleId, written]]), result, entry: buildEntry({ action, id, body, author }) };
  });
}

function prepared(bundleId: string, text: string): PreparedContent {
  const result = prepareBundle(text, bundleId);
  if (!result.ok) throw asInvalidRule(result.problems);
  return result;
}

const takenText = 'another rule already has this id and would be replaced: choose another';

/** Of two rules with one id only the later is in effect, so a velocity rule with the id of a ban would lift the ban. */
const isTaken = ({ parsed }: PolicyWriteDeps, { bundles }: StoredBundles, id: string): boolean =>
  [...bundles].some(([bundleId, { content }]) => {
    if (bundleId === velocityBundle(id)) return false;
    const read = parsed.parse(bundleId, content);
    return read.ok && read.document.rules.some((rule) => rule.id === id);
  });

function buildEntry({
  action,
  id,
  body,
  author,
}: {
  action: 'create' | 'edit' | 'delete';
  id: string;
  body?: VelocityBody;
  author?: string;
}): PolicyChange {
  return {
    action,
    resource_type: 'velocity_rule',
    resource_id: id,
    resource_name: body?.name ?? id,
    rule_id: id,
    bundle_ids: [velocityBundle(id)],
    message: body?.message ?? '',
    ...(author && { extra: { author } }),
  };
}

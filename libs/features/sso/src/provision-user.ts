import { coversRole, type AuditAct } from '@svc/contract';
import type { StoredUser, UserRecord } from '@svc/store';
import type { ProviderProfile } from './profile';
import type { SignInDeps, SignInRequest } from './sso-deps';

export interface ProvisionRules {
  /** Creates users who do not exist. */
  provisions: boolean;
  /** Updates role, name and e-mail address at each sign-in. */
  syncs: boolean;
}

type ProvisionOutcome =
  | { kind: 'user'; user: UserRecord; generation: number }
  | { kind: 'unknown' | 'disabled' }
  /** The user name or the address belongs to another user, who is not linked to this identity. */
  | { kind: 'conflict' };

type ProvisionDeps = Pick<SignInDeps, 'store' | 'clock' | 'random' | 'roles' | 'announce'>;

/** Bounds the compare-and-set loop: each retry follows another write of the same user. */
const MAX_TRIES = 5;

/**
 * Finds the user of an identity at a provider and updates it, or creates it. Users are found by the identity; one without any
 * identity is linked by a verified e-mail address, or by the name if a provider or SCIM created it.
 * See docs/adr/0035-account-linking.md.
 */
export async function provisionUser(
  deps: ProvisionDeps,
  given: ProviderProfile,
  rules: ProvisionRules,
  request: Pick<SignInRequest, 'requestId'>,
): Promise<ProvisionOutcome> {
  let profile = given;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await findUser(deps, profile);
    if (found?.user.disabled) return { kind: 'disabled' };
    if (!found && !rules.provisions) return { kind: 'unknown' };
    const user = found ? merge(deps, found.user, profile, rules) : create(deps, profile);
    // A role that permits more applies to open sessions at once; one that permits less ends them.
    const endSessions = found !== undefined && !coversRole(user.role, found.user.role, deps.roles());
    const outcome = await deps.store.users.write({
      user,
      expected: found?.revision ?? 0,
      endSessions,
      act: buildAct(found?.user, user, request),
    });
    // After a crash here, streams that are open with an ended session end at their regular check.
    if (outcome.kind === 'written' && endSessions) deps.announce(`user:${user.id}`);
    if (outcome.kind === 'written') return { kind: 'user', user, generation: outcome.generation };
    if (outcome.kind === 'full') return { kind: 'unknown' };
    // An address that another user has is not synchronized, and keeps no user from signing in.
    if (found && outcome.kind === 'taken' && outcome.lookup === 'email') profile = withoutEmail(profile);
    // A concurrent first sign-in of the same user may have taken the names; then the next try finds that user.
    else if (outcome.kind === 'taken' && tries > 0) return { kind: 'conflict' };
  }
  return { kind: 'conflict' };
}

async function findUser({ store }: ProvisionDeps, profile: ProviderProfile): Promise<StoredUser | undefined> {
  const { tenant, subject, username, email, emailVerified } = profile;
  const known = await store.users.findBySubject(tenant, subject);
  if (known) return known;
  const isUnlinked = ({ user }: StoredUser) => (user.subjects ?? []).length === 0;
  // Users of some providers choose their name there, so that a name alone must not lead to a user with a password.
  const named = await store.users.findByName(tenant, username);
  if (named && isUnlinked(named) && named.user.source !== 'user') return named;
  const addressed = email && emailVerified ? await store.users.findByEmail(tenant, email) : undefined;
  return addressed && isUnlinked(addressed) ? addressed : undefined;
}

function create({ clock, random }: ProvisionDeps, profile: ProviderProfile): UserRecord {
  const now = new Date(clock.nowMs()).toISOString();
  return {
    id: random.uuid(),
    tenant: profile.tenant,
    username: profile.username,
    ...toSynced(profile),
    source: profile.source,
    subjects: [profile.subject],
    synced_at: now,
    created_at: now,
    updated_at: now,
    last_login_at: now,
  };
}

function merge(
  { clock }: ProvisionDeps,
  before: UserRecord,
  profile: ProviderProfile,
  { syncs }: ProvisionRules,
): UserRecord {
  const now = new Date(clock.nowMs()).toISOString();
  const linked = { ...before, subjects: [...new Set([...(before.subjects ?? []), profile.subject])] };
  const user = syncs ? { ...linked, ...toSynced(profile), synced_at: now } : linked;
  return { ...user, last_login_at: now, updated_at: hasChanged(before, user) ? now : before.updated_at };
}

const toSynced = ({ role, email, displayName }: ProviderProfile) => ({
  role,
  ...(email !== undefined && { email }),
  ...(displayName !== undefined && { display_name: displayName }),
});

const withoutEmail = ({ email: _, ...profile }: ProviderProfile): ProviderProfile => profile;

const comparedFields = ['role', 'email', 'display_name', 'subjects'] as const;
const hasChanged = (before: UserRecord, after: UserRecord): boolean => changedFields(before, after).length > 0;
const changedFields = (before: UserRecord, after: UserRecord): string[] =>
  comparedFields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));

function buildAct(
  before: UserRecord | undefined,
  after: UserRecord,
  { requestId }: Pick<SignInRequest, 'requestId'>,
): AuditAct {
  const changed = before ? changedFields(before, after) : [];
  return {
    event_type: 'identity.change',
    action: before ? (changed.includes('subjects') ? 'user.linked' : 'user.synced') : 'user.provisioned',
    severity: !before || changed.includes('role') || changed.includes('subjects') ? 'MEDIUM' : 'INFO',
    identity: after.username,
    extra: {
      request_id: requestId,
      resource_type: 'user',
      resource_id: after.id,
      username: after.username,
      role: after.role,
      source: after.source,
      changed: changed.join(' '),
    },
  };
}

import { passwordProblem, type Passwords } from '@svc/identity';
import type { Clock, Random } from '@svc/platform';
import type { Store, UserRecord } from '@svc/store';

interface FirstAdmin {
  tenant: string;
  username: string;
  password: string;
  email?: string;
}

interface BootstrapDeps {
  store: Pick<Store, 'users'>;
  clock: Pick<Clock, 'nowMs'>;
  random: Pick<Random, 'uuid'>;
  passwords: Passwords;
  /** The password does not meet the rule for users. */
  onWeak(problem: string): void;
}

/**
 * Creates the first administrator, unless there is a user of this name. Of gateways that start at the same time, one creates it.
 *
 * @returns whether this call has
 */
export async function bootstrapAdmin(
  { store, clock, random, passwords, onWeak }: BootstrapDeps,
  { tenant, username, password, email }: FirstAdmin,
): Promise<boolean> {
  if (await store.users.findByName(tenant, username)) return false;
  const problem = passwordProblem(password, [username]);
  if (problem) onWeak(problem);
  const now = new Date(clock.nowMs()).toISOString();
  const user: UserRecord = {
    id: random.uuid(),
    tenant,
    username,
    ...(email && { email }),
    role: 'admin',
    source: 'user',
    password: await passwords.hash(password),
    created_at: now,
    updated_at: now,
  };
  const extra = { resource_type: 'user', resource_id: user.id, username, user_role: 'admin' };
  const act = {
    event_type: 'identity.change',
    action: 'user.created',
    severity: 'HIGH',
    identity: 'system',
    extra,
  } as const;
  const outcome = await store.users.write({ user, expected: 0, act });
  return outcome.kind === 'written';
}

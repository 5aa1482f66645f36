import {
  AppError,
  coversRole,
  endpoints,
  limits,
  type ApiKeyView,
  type Caller,
  type CreateApiKeyBody,
  type CreatedApiKey,
  type Endpoint,
} from '@svc/contract';
import { mayCall } from '@svc/http';
import { getScopedRole, missingScope, sha256 } from '@svc/identity';
import { describeAct, type UsedApiKey } from '@svc/store';
import { type AccessDeps, gateRules } from './access-deps';

const SECRET_BYTES = 32;
const PREFIX_CHARS = 11;

/** Managed keys of the caller's tenant, newest first. */
export async function listApiKeys(
  { store }: Pick<AccessDeps, 'store'>,
  { tenant }: Caller,
): Promise<{ items: ApiKeyView[] }> {
  return { items: (await store.apiKeys.list(tenant)).map(toView) };
}

/**
 * Creates a key in the caller's tenant. See docs/reference/access.md#managed-keys.
 *
 * @throws auth_key_invalid, grant_exceeds_caller
 */
export async function createApiKey(deps: AccessDeps, caller: Caller, body: CreateApiKeyBody): Promise<CreatedApiKey> {
  const { store, clock, random, managedKeys } = deps;
  const expiresMs = body.expiresAt ? readExpiry(body.expiresAt, clock.nowMs()) : undefined;
  if (caller.submitterId.length > limits.apiKeyMakerChars) {
    throw fault('name', 'the key of the caller was made through too many other keys');
  }
  if (!mayGrantKey(deps, caller, body.scopes)) throw new AppError('grant_exceeds_caller');
  const secret = `ck_${random.hex(SECRET_BYTES)}`;
  const record = {
    id: random.uuid(),
    name: body.name,
    prefix: secret.slice(0, PREFIX_CHARS),
    tenant: caller.tenant,
    scopes: body.scopes,
    created_at: new Date(clock.nowMs()).toISOString(),
    created_by: caller.submitterId,
    ...(expiresMs !== undefined && { expires_ms: expiresMs }),
  };
  const { id, name, prefix } = record;
  describeAct({}, { resource_type: 'api_key', resource_id: id, name, prefix, scopes: body.scopes.join(' ') });
  const outcome = await store.apiKeys.create(record, sha256(secret), clock.nowUs());
  if (outcome.kind === 'full') throw fault('name', `this tenant already has ${outcome.count} keys`);
  // Other replicas read the key from Redis. A failure here only delays what this one has in memory.
  await managedKeys.sync().catch(() => undefined);
  return { key: toView({ record, uses: 0, lastUsedMs: 0 }), secret };
}

/**
 * Revokes a key, with its sessions and streams: at once here, within a second at other replicas.
 *
 * @throws auth_key_not_found, also for a key that is revoked or of another tenant
 */
export async function revokeApiKey(
  { store, clock, managedKeys }: Pick<AccessDeps, 'store' | 'clock' | 'managedKeys'>,
  { scope }: Caller,
  id: string,
): Promise<void> {
  const outcome = await store.apiKeys.revoke(scope, id, new Date(clock.nowMs()).toISOString());
  if (outcome === 'missing') throw new AppError('auth_key_not_found');
  // After a crash or a failure here, every replica notices the change by itself.
  await managedKeys.sync().catch(() => undefined);
}

/** A key with these scopes may call no route that the caller may not, and its role holds no more than the caller's. */
function mayGrantKey(deps: AccessDeps, caller: Caller, scopes: readonly string[]): boolean {
  const role = getScopedRole(scopes);
  if (!coversRole(caller.role, role, deps.roleBook.all())) return false;
  const { scopes: _, ...unscoped } = caller;
  const bearer: Caller = { ...unscoped, role, ...(scopes.length > 0 && { scopes }) };
  const rules = gateRules(deps);
  const mayReach = (one: Caller, endpoint: Endpoint) =>
    missingScope(one.scopes ?? [], endpoint.method, endpoint.path) === undefined && mayCall(one, endpoint, rules);
  return endpoints.every((endpoint: Endpoint) => !mayReach(bearer, endpoint) || mayReach(caller, endpoint));
}

function readExpiry(text: string, nowMs: number): number {
  const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw fault('expiresAt', 'must be a time such as 2030-01-31T00:00:00Z');
  if (ms <= nowMs) throw fault('expiresAt', 'must be in the future');
  return ms;
}

const fault = (field: string, message: string) =>
  new AppError('auth_key_invalid', { violations: [{ in: 'body', field, message }] });

const toView = ({ record, uses, lastUsedMs }: UsedApiKey): ApiKeyView => ({
  id: record.id,
  name: record.name,
  prefix: record.prefix,
  scopes: record.scopes,
  createdAt: record.created_at,
  usageCount: uses,
  ...(lastUsedMs > 0 && { lastUsed: new Date(lastUsedMs).toISOString() }),
  ...(record.expires_ms !== undefined && { expiresAt: new Date(record.expires_ms).toISOString() }),
});

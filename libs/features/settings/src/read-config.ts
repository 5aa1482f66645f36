import {
  AppError,
  configScopes,
  everyTenant,
  type Caller,
  type ConfigQuery,
  type ConfigScope,
  type EffectiveQuery,
  type EffectiveView,
} from '@svc/contract';
import { mergeConfig } from '@svc/policy';
import { canonicalHash } from '@svc/json';
import type { ConfigDocument, Store } from '@svc/store';
import { type ConfigPlace, documentsAt } from './effective-config';
import {
  type ConfigRules,
  defaultPlace,
  isDefault,
  isHidden,
  getDocumentPlace,
  requireOwnOrg,
  requireReadable,
} from './config-place';
import { type DocumentPlace, readDocument } from './documents';

export interface ConfigReadDeps extends ConfigRules {
  store: Pick<Store, 'config'>;
}

/**
 * One document, or an earlier revision of it. system/default always exists; it is empty until the first write.
 * See docs/reference/config.md#documents.
 *
 * @throws config_request_invalid, access_denied, config_place_forbidden, config_not_found
 */
export async function readConfig(
  deps: ConfigReadDeps,
  caller: Caller,
  { scope, scope_id, revision }: Pick<ConfigQuery, 'scope' | 'scope_id' | 'revision'>,
): Promise<ConfigDocument> {
  const place = getDocumentPlace(caller, scope, scope_id);
  if (!place) throw faulty('scope_id', `is needed for scope ${scope}`);
  requireReadable(deps, caller, place);
  const stored = await readDocument(deps, place);
  if (stored && isHidden(caller, stored)) throw new AppError('config_not_found');
  const found = revision === undefined ? (stored ?? unwritten(place)) : await earlier(deps, stored, revision);
  if (!found) throw new AppError('config_not_found');
  return found;
}

const unwritten = (place: DocumentPlace): ConfigDocument | undefined =>
  isDefault(place) ? { ...defaultPlace, data: {}, revision: 0, updated_at: '', meta: {} } : undefined;

async function earlier(
  { store }: ConfigReadDeps,
  stored: ConfigDocument | undefined,
  revision: number,
): Promise<ConfigDocument | undefined> {
  if (!stored || revision >= stored.revision) return stored?.revision === revision ? stored : undefined;
  const found = await store.config.earlier(stored.scope, stored.scope_id, stored.revision - revision);
  // A concurrent write shifted the kept revisions by one; the requested one is treated as gone.
  return found?.revision === revision ? found : undefined;
}

/**
 * The merged documents of a place: system/default, the tenant's own, and those requested, if they belong to that tenant.
 *
 * @throws config_request_invalid, config_place_forbidden
 */
export async function readEffective(
  deps: ConfigReadDeps,
  caller: Caller,
  query: EffectiveQuery,
): Promise<EffectiveView> {
  const place = query.scope ? scopePlace(caller, query.scope, query) : idsPlace(caller, query);
  const documents = await documentsAt(deps.store, place);
  const data = mergeConfig(documents);
  const revisions = configScopes.map((scope) => {
    const document = documents.find((one) => one.scope === scope);
    return `${scope}:${document?.revision ?? 0}`;
  });
  return { version: revisions.join('|'), hash: canonicalHash(data), data };
}

function idsPlace(caller: Caller, { scope_id, org_id, team_id, workflow_id, step_id }: EffectiveQuery): ConfigPlace {
  if (scope_id !== undefined) throw faulty('scope_id', 'goes with scope; name the scope, or the ids one by one');
  const tenant = caller.scope === everyTenant ? (org_id ?? caller.tenant) : caller.tenant;
  return { tenant, team: team_id, workflow: workflow_id, step: step_id };
}

function scopePlace(caller: Caller, scope: ConfigScope, query: EffectiveQuery): ConfigPlace {
  const { tenant } = caller;
  const also = (['org_id', 'team_id', 'workflow_id', 'step_id'] as const).find((field) => query[field] !== undefined);
  if (also) throw faulty(also, 'does not go together with scope');
  const place = getDocumentPlace(caller, scope, query.scope_id);
  if (!place) throw faulty('scope_id', `is needed for scope ${scope}`);
  requireOwnOrg(caller, place);
  switch (scope) {
    case 'system':
      if (!isDefault(place)) throw faulty('scope_id', 'only system/default is merged');
      return { tenant };
    case 'org':
      return { tenant: place.scope_id };
    case 'team':
    case 'workflow':
    case 'step':
      return { tenant, [scope]: place.scope_id };
  }
}

const faulty = (field: string, message: string) =>
  new AppError('config_request_invalid', { violations: [{ in: 'query', field, path: field, message }] });

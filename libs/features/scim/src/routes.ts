import * as contract from '@svc/contract';
import { answer, type Answered, handlersFor } from '@svc/http';
import { groupSchema, project, readOperations, type Projection } from '@svc/scim-protocol';
import type { StoredUser } from '@svc/store';
import { runBulk } from './bulk/run-bulk';
import { describeService, findById, listResourceTypes, listSchemas } from './discovery';
import type { StoredGroup } from './groups/group.repository';
import { groupLocation, toGroupResource } from './groups/group-resource';
import { createGroup, deleteGroup, findGroup, patchGroup, replaceGroup } from './groups/write-group';
import {
  listGroups,
  listUsers,
  readNames,
  readSearch,
  readSortOrder,
  type ScimQuery,
  searchAll,
  toList,
} from './list-resources';
import { includesVersion, type ScimDeps, type ScimRequest, toVersion, withFaults } from './scim-deps';
import { readScimSettings, rotateScimToken } from './tokens/settings';
import { findUser, userSchema } from './users/read-users';
import { toUserResource, userLocation } from './users/user-resource';
import { createUser, deleteUser, patchUser, replaceUser } from './users/write-user';

/** Dependencies of these handlers. */
export interface ScimContext {
  scim: ScimDeps & {
    /** 32 random bytes, base64url. */
    newToken(): string;
  };
}

const handle = handlersFor<ScimContext>();

interface ScimCall {
  ctx: ScimContext;
  header(name: string): string | undefined;
  requestId: string;
}

/** Host names were checked before, where the gateway knows its names. */
const getBaseUrl = ({ ctx, header }: Pick<ScimCall, 'ctx' | 'header'>): string =>
  ctx.scim.settings.baseUrl ?? `${ctx.scim.settings.scheme}://${header('host') ?? 'localhost'}`;

function toRequest(call: ScimCall): ScimRequest {
  const ifMatch = call.header('if-match');
  return { requestId: call.requestId, baseUrl: getBaseUrl(call), ...(ifMatch !== undefined && { ifMatch }) };
}

const toProjection = ({ attributes, excludedAttributes }: contract.ScimProjection): Projection => ({
  attributes: readNames(attributes),
  excludedAttributes: readNames(excludedAttributes),
});

/** @throws ScimFault invalidValue */
function toQuery({ attributes, excludedAttributes, sortOrder, ...query }: contract.ScimListQuery): ScimQuery {
  const order = readSortOrder(sortOrder);
  return {
    ...query,
    ...(order && { sortOrder: order }),
    attributes: readNames(attributes),
    excludedAttributes: readNames(excludedAttributes),
  };
}

type Read = ScimCall & { query: contract.ScimProjection };
type Response = Answered<contract.ScimResource>;

function showUser(call: Read, stored: StoredUser, status?: 201): Response {
  const baseUrl = getBaseUrl(call);
  const resource = project(userSchema(call.ctx.scim), toUserResource(stored, baseUrl), toProjection(call.query));
  return show(resource, stored.revision, status && userLocation(baseUrl, stored.user.id), call);
}

function showGroup(call: Read, stored: StoredGroup, status?: 201): Response {
  const baseUrl = getBaseUrl(call);
  const resource = project(groupSchema, toGroupResource(stored, baseUrl), toProjection(call.query));
  return show(resource, stored.revision, status && groupLocation(baseUrl, stored.group.id), call);
}

function show(body: contract.ScimResource, revision: number, location: string | undefined, { header }: Read): Response {
  const headers = { ETag: toVersion(revision), ...(location && { Location: location }) };
  // Only reads declare 304; other requests do not send this header.
  const tags = header('if-none-match');
  const isUnchanged = tags !== undefined && includesVersion(tags, revision);
  return answer(body, { headers, ...(isUnchanged && { status: 304 }) });
}

/** A change is answered in full whatever version the client has. */
const asChange = (call: Read): Read => ({
  ...call,
  header: (name) => (name === 'if-none-match' ? undefined : call.header(name)),
});

/** SCIM 2.0, and its settings. */
export const scimRoutes = [
  handle(contract.getScimSettings, ({ caller, header, ctx }) =>
    readScimSettings(ctx.scim, caller, getBaseUrl({ ctx, header })),
  ),
  handle(contract.rotateScimToken, ({ caller, requestId, ctx }) =>
    rotateScimToken(ctx.scim, { caller, requestId }, ctx.scim.newToken),
  ),
  handle(contract.getScimConfig, async (call) => describeService(call.ctx.scim, getBaseUrl(call))),
  handle(contract.listScimSchemas, async (call) => toList(listSchemas(call.ctx.scim, getBaseUrl(call)))),
  handle(contract.getScimSchema, async (call) =>
    findById(listSchemas(call.ctx.scim, getBaseUrl(call)), call.params.id),
  ),
  handle(contract.listScimResourceTypes, async (call) => toList(listResourceTypes(getBaseUrl(call)))),
  handle(contract.getScimResourceType, async (call) => findById(listResourceTypes(getBaseUrl(call)), call.params.id)),
  handle(contract.listScimUsers, (call) =>
    withFaults(async () => listUsers(call.ctx.scim, getBaseUrl(call), toQuery(call.query))),
  ),
  handle(contract.createScimUser, (call) =>
    withFaults(async () => showUser(asChange(call), await createUser(call.ctx.scim, toRequest(call), call.body), 201)),
  ),
  handle(contract.getScimUser, (call) =>
    withFaults(async () => showUser(call, await findUser(call.ctx.scim, call.params.id))),
  ),
  handle(contract.putScimUser, (call) =>
    withFaults(async () =>
      showUser(asChange(call), await replaceUser(call.ctx.scim, toRequest(call), call.params.id, call.body)),
    ),
  ),
  handle(contract.patchScimUser, (call) =>
    withFaults(async () => {
      const operations = readOperations(call.body);
      return showUser(asChange(call), await patchUser(call.ctx.scim, toRequest(call), call.params.id, operations));
    }),
  ),
  handle(contract.deleteScimUser, (call) => deleteUser(call.ctx.scim, toRequest(call), call.params.id)),
  handle(contract.searchScimUsers, (call) =>
    withFaults(async () => listUsers(call.ctx.scim, getBaseUrl(call), readSearch(call.body))),
  ),
  handle(contract.listScimGroups, (call) =>
    withFaults(async () => listGroups(call.ctx.scim, getBaseUrl(call), toQuery(call.query))),
  ),
  handle(contract.createScimGroup, (call) =>
    withFaults(async () =>
      showGroup(asChange(call), await createGroup(call.ctx.scim, toRequest(call), call.body), 201),
    ),
  ),
  handle(contract.getScimGroup, (call) =>
    withFaults(async () => showGroup(call, await findGroup(call.ctx.scim, call.params.id))),
  ),
  handle(contract.putScimGroup, (call) =>
    withFaults(async () =>
      showGroup(asChange(call), await replaceGroup(call.ctx.scim, toRequest(call), call.params.id, call.body)),
    ),
  ),
  handle(contract.patchScimGroup, (call) =>
    withFaults(async () => {
      const operations = readOperations(call.body);
      return showGroup(asChange(call), await patchGroup(call.ctx.scim, toRequest(call), call.params.id, operations));
    }),
  ),
  handle(contract.deleteScimGroup, (call) => deleteGroup(call.ctx.scim, toRequest(call), call.params.id)),
  handle(contract.searchScimGroups, (call) =>
    withFaults(async () => listGroups(call.ctx.scim, getBaseUrl(call), readSearch(call.body))),
  ),
  handle(contract.searchScim, (call) =>
    withFaults(async () => searchAll(call.ctx.scim, getBaseUrl(call), readSearch(call.body))),
  ),
  handle(contract.bulkScim, (call) => withFaults(() => runBulk(call.ctx.scim, toRequest(call), call.body))),
];

import { AppError, scimForm, type ScimBulkResult, type ScimResource } from '@svc/contract';
import { isObject, readOperations, ScimFault } from '@svc/scim-protocol';
import { groupLocation } from '../groups/group-resource';
import { createGroup, deleteGroup, patchGroup, replaceGroup } from '../groups/write-group';
import { type ScimDeps, type ScimRequest, toVersion, withFaults } from '../scim-deps';
import { userLocation } from '../users/user-resource';
import { createUser, deleteUser, patchUser, replaceUser } from '../users/write-user';
import { type BulkOperation, readBulk } from './read-bulk';

type Result = ScimBulkResult['Operations'][number];

const responseSchema = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';

/**
 * Executes the operations of a bulk request one by one. One that names the resource of another (`bulkId:<name>`) is executed
 * after it. After a crash, those before it are complete; a client repeats the request.
 *
 * @throws ScimFault invalidSyntax, AppError scim_bulk_too_large
 */
export async function runBulk(deps: ScimDeps, request: ScimRequest, sent: unknown): Promise<ScimBulkResult> {
  const { operations, failOnErrors } = readBulk(sent);
  const results: Result[] = [];
  const ids = new Map<string, string>();
  // Read once: data may be large, and operations are many.
  const open = new Map(operations.map((one) => [one, listReferences(one)]));
  let errors = 0;
  for (let next = choose(open, ids); next; next = choose(open, ids)) {
    open.delete(next);
    const result = await runOne(deps, request, next, ids);
    results.push(result);
    if (result.response) errors += 1;
    if (failOnErrors > 0 && errors >= failOnErrors) break;
  }
  return { schemas: [responseSchema], Operations: results };
}

/** The first operation that does not wait for another one, else the first: what it refers to does not exist. */
function choose(
  open: ReadonlyMap<BulkOperation, readonly string[]>,
  ids: ReadonlyMap<string, string>,
): BulkOperation | undefined {
  const waiting = [...open];
  const created = new Set(waiting.flatMap(([{ bulkId }]) => bulkId ?? []));
  const isReady = ([{ bulkId }, references]: (typeof waiting)[number]) =>
    references.every((name) => ids.has(name) || !created.has(name) || name === bulkId);
  return (waiting.find(isReady) ?? waiting[0])?.[0];
}

const reference = /^bulkId:(.+)$/;

function listReferences({ path, data }: BulkOperation): string[] {
  const names: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') names.push(...(reference.exec(value)?.slice(1) ?? []));
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(path.split('/'));
  visit(data);
  return names;
}

/** @throws ScimFault invalidValue for a resource that was not created */
function resolveReferences(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => resolveReferences(one, ids));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, resolveReferences(part, ids)]));
  }
  const [, name] = typeof value === 'string' ? (reference.exec(value) ?? []) : [];
  if (name === undefined) return value;
  const id = ids.get(name);
  if (id === undefined) throw new ScimFault('invalidValue', 'a bulkId refers to a resource that was not created');
  return id;
}

async function runOne(
  deps: ScimDeps,
  request: ScimRequest,
  { method, path, bulkId, version, data }: BulkOperation,
  ids: Map<string, string>,
): Promise<Result> {
  const head = { method, ...(bulkId && { bulkId }) };
  const { ifMatch: _, ...shared } = request;
  const own = { ...shared, ...(version && { ifMatch: version }) };
  try {
    return await withFaults(async () => {
      const target = readTarget(path, method, ids);
      const done = await execute(deps, own, target, method, resolveReferences(data, ids));
      const location =
        target.type === 'Users' ? userLocation(own.baseUrl, done.id) : groupLocation(own.baseUrl, done.id);
      if (bulkId) ids.set(bulkId, done.id);
      const status = method === 'POST' ? '201' : method === 'DELETE' ? '204' : '200';
      return { ...head, location, ...(done.revision && { version: toVersion(done.revision) }), status };
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { status, body } = scimForm.toErrorBody(error);
    return { ...head, status: String(status), response: body as ScimResource };
  }
}

interface Target {
  type: 'Users' | 'Groups';
  /** '' for the creation of a resource. */
  id: string;
}

/** @throws ScimFault invalidPath */
function readTarget(path: string, method: BulkOperation['method'], ids: ReadonlyMap<string, string>): Target {
  const [, type, sentId = '', ...more] = path.split('/');
  const id = resolveReferences(sentId, ids) as string;
  const isKnown = (type === 'Users' || type === 'Groups') && more.length === 0;
  if (!isKnown || (id === '') !== (method === 'POST')) throw new ScimFault('invalidPath', 'path names no resource');
  return { type, id };
}

async function execute(
  deps: ScimDeps,
  request: ScimRequest,
  { type, id }: Target,
  method: BulkOperation['method'],
  data: unknown,
): Promise<{ id: string; revision?: number }> {
  const isUser = type === 'Users';
  const wrote = async (
    work: Promise<{ user: { id: string }; revision: number } | { group: { id: string }; revision: number }>,
  ) => {
    const stored = await work;
    return { id: 'user' in stored ? stored.user.id : stored.group.id, revision: stored.revision };
  };
  switch (method) {
    case 'POST':
      return wrote(isUser ? createUser(deps, request, data) : createGroup(deps, request, data));
    case 'PUT':
      return wrote(isUser ? replaceUser(deps, request, id, data) : replaceGroup(deps, request, id, data));
    case 'PATCH': {
      const operations = readOperations(data);
      return wrote(isUser ? patchUser(deps, request, id, operations) : patchGroup(deps, request, id, operations));
    }
    case 'DELETE':
      await (isUser ? deleteUser(deps, request, id) : deleteGroup(deps, request, id));
      return { id };
  }
}

import { AppError } from '@svc/contract';
import { isObject, readValue, ScimFault } from '@svc/scim-protocol';

/** Largest number of operations of a bulk request. */
export const BULK_LIMIT = 200;

const bulkMethods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface BulkOperation {
  method: (typeof bulkMethods)[number];
  /** Such as `/Users` or `/Users/<id>`. */
  path: string;
  /** Name that other operations use for the resource that this one creates. */
  bulkId?: string;
  version?: string;
  data?: unknown;
}

interface BulkRequest {
  operations: readonly BulkOperation[];
  /** Number of errors after which the rest is not executed; 0 = never. */
  failOnErrors: number;
}

const fault = (message: string) => new ScimFault('invalidSyntax', message);

/** @throws ScimFault invalidSyntax, AppError scim_bulk_too_large */
export function readBulk(sent: unknown): BulkRequest {
  const list = isObject(sent) ? readValue(sent, 'Operations') : undefined;
  if (!isObject(sent) || !Array.isArray(list)) throw fault('Operations must be a list');
  if (list.length > BULK_LIMIT) {
    throw new AppError('scim_bulk_too_large', { error: `a request has at most ${BULK_LIMIT} operations` });
  }
  const failOnErrors = readValue(sent, 'failOnErrors') ?? 0;
  if (typeof failOnErrors !== 'number' || !Number.isSafeInteger(failOnErrors) || failOnErrors < 0) {
    throw fault('failOnErrors must be a number from 0');
  }
  const operations = (list as unknown[]).map(readOperation);
  const ids = operations.flatMap(({ bulkId }) => bulkId ?? []);
  if (new Set(ids).size < ids.length) throw fault('a bulkId is used twice');
  return { operations, failOnErrors };
}

function readOperation(sent: unknown): BulkOperation {
  if (!isObject(sent)) throw fault('an operation must be an object');
  const [method, path, bulkId, version] = ['method', 'path', 'bulkId', 'version'].map((name) => {
    const value = readValue(sent, name) ?? undefined;
    if (value !== undefined && typeof value !== 'string') throw fault(`${name} must be a text`);
    return value;
  });
  const known = bulkMethods.find((one) => one === method?.toUpperCase());
  if (!known) throw fault('method must be POST, PUT, PATCH or DELETE');
  if (!path) throw fault('an operation needs a path');
  if (known === 'POST' && !bulkId) throw fault('a POST needs a bulkId');
  return { method: known, path, ...(bulkId && { bulkId }), ...(version && { version }), data: readValue(sent, 'data') };
}

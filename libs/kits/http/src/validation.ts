import { AppError, type Caller, type Endpoint, everyTenant } from '@svc/contract';
import Joi from 'joi';

type Place = 'path' | 'query' | 'body';

export interface Violation {
  in: Place;
  /** Top-level field, as sent. */
  field: string;
  /** Where inside the field, such as `labels.team` or `tags[3]`. */
  path: string;
  message: string;
}

export interface Checked {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** Checks the three places of a request at once, so that one answer names everything there is to mend. */
export type Validate = (raw: Checked) => Checked;

const noQuery = Joi.object({});
/** Of a request; whoever sends a hundred thousand mistakes is not told each of them. */
const mostViolations = 100;

/**
 * The validator of an endpoint, compiled once.
 *
 * @throws (from the returned function) invalid_json for unknown body fields, a code of `violationCodes`, else invalid_body,
 *   all with `violations`
 */
export function validatorOf(endpoint: Endpoint): Validate {
  const { bodyOptional, bodyIgnoresUnknown = false } = endpoint;
  // Settings that are compiled into the schema need not be merged at every request.
  const prepared = (schema: Joi.ObjectSchema, stripUnknown: boolean, more: Joi.ValidationOptions = {}) =>
    schema.prefs({ abortEarly: false, stripUnknown, errors: { wrap: { label: false } }, ...more });
  const params = Object.keys(endpoint.params).length > 0 && prepared(Joi.object(endpoint.params), false);
  const query = prepared(endpoint.query ?? noQuery, true);
  const unasked = frozen(query.validate({}));
  // Paths and queries are text; JSON has types of its own, and `"5"` is not a number there.
  const body = endpoint.body && prepared(endpoint.body, bodyIgnoresUnknown, { convert: false });
  const fields = endpoint.body && !bodyIgnoresUnknown ? fieldsOf(endpoint.body) : undefined;
  return (raw) => {
    if (fields) requireFewStrangers(raw.body, fields);
    let isStrange = false;
    const violations: Violation[] = [];
    const check = (place: Place, schema: Joi.ObjectSchema, value: unknown): unknown => {
      const result = schema.validate(value);
      if (result.error) {
        const { details } = result.error;
        isStrange ||= details.some(({ type }) => type === 'object.unknown');
        violations.push(...details.slice(0, mostViolations).map((detail) => violationOf(place, detail)));
      }
      return result.value as unknown;
    };
    const isAsked = Object.keys(raw.query as object).length > 0;
    if (isAsked) violations.push(...repeated(raw.query));
    const sent = raw.body === undefined && bodyOptional ? {} : raw.body;
    const hasObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
    const checked = {
      params: params ? check('path', params, raw.params) : raw.params,
      query: !isAsked && unasked ? unasked : check('query', query, once(raw.query)),
      body: body && hasObject ? check('body', body, sent) : {},
    };
    if (body && !hasObject) violations.push(noObject);
    if (!body && raw.body !== undefined && !isEmptyObject(raw.body)) violations.push(unexpectedBody);
    if (violations.length > 0) throw refusal(endpoint, violations, isStrange);
    return checked;
  };
}

/** Names of the fields that a body may have; undefined where it may have any. */
function fieldsOf(body: Joi.ObjectSchema): ReadonlySet<string> | undefined {
  const { keys = {}, flags, patterns } = body.describe() as { keys?: object; flags?: { unknown?: boolean }; patterns?: unknown }; // prettier-ignore
  return flags?.unknown || patterns ? undefined : new Set(Object.keys(keys));
}

/**
 * A hundred thousand unknown fields would be looked at for half a second before they are refused.
 *
 * @throws invalid_json
 */
function requireFewStrangers(body: unknown, fields: ReadonlySet<string>): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
  const strangers = Object.keys(body).filter((name) => !fields.has(name));
  if (strangers.length <= mostViolations) return;
  const violations = strangers.slice(0, mostViolations).map((name) => stranger('body', name, name));
  throw new AppError('invalid_json', { violations });
}

const stranger = (place: Place, field: string, path: string): Violation => {
  return { in: place, field, path, message: `${path} is not a field of this route; leave it out` };
};

/** What a query without parameters comes to, the same at every request; undefined where a parameter is required. */
const frozen = ({ error, value }: Joi.ValidationResult): unknown =>
  error ? undefined : Object.freeze(value as Record<string, unknown>);

const noObject: Violation = { in: 'body', field: '', path: '', message: 'send a JSON object as the body' };
const unexpectedBody: Violation = { in: 'body', field: '', path: '', message: 'this route takes no body' };
const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** A parameter sent twice is ambiguous: each reader along the way may take another one. */
const repeated = (query: unknown): Violation[] =>
  Object.entries(query as Record<string, unknown>)
    .filter(([, value]) => Array.isArray(value))
    .map(([field]) => ({ in: 'query', field, path: field, message: 'send this parameter once' }));

const once = (query: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(query as Record<string, unknown>).filter(([, value]) => !Array.isArray(value)));

/** A key within a value that does not look like a field's name may be data, even a secret: it is not told. */
const asName = (key: string | number | undefined): string | number =>
  typeof key !== 'string' || /^[a-z][a-z_]{0,39}$/.test(key) ? (key ?? '') : '(a key)';

function violationOf(place: Place, { path, message, type }: Joi.ValidationErrorItem): Violation {
  const isStranger = type === 'object.unknown';
  const told = isStranger && path.length > 1 ? [...path.slice(0, -1), asName(path.at(-1))] : path;
  const written = told.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  );
  const field = String(path[0] ?? '');
  return isStranger ? stranger(place, field, written) : { in: place, field, path: written, message };
}

function refusal(endpoint: Endpoint, violations: Violation[], isStrange: boolean): AppError {
  const codes = endpoint.violationCodes ?? {};
  const special = violations.map(({ field }) => (Object.hasOwn(codes, field) ? codes[field] : undefined)).find(Boolean);
  const [only, ...others] = violations;
  const told = only && others.length === 0 ? { error: only.message } : {};
  if (isStrange || violations.includes(unexpectedBody)) return new AppError('invalid_json', { ...told, violations });
  return special ? new AppError(special, { violations }) : new AppError('invalid_body', { ...told, violations });
}

/** Fields by which a request may name its tenant once more. See docs/reference/http.md#tenants. */
const tenantFields = ['tenant', 'tenant_id', 'org_id'];

/**
 * Refuses a request whose query or body names another tenant than it acts for. A caller who may act for all and named none
 * is left to the service.
 *
 * @throws tenant_access_denied
 */
export function checkNamedTenant(caller: Caller, ...places: unknown[]): void {
  if (caller.scope === everyTenant) return;
  for (const place of places) {
    if (typeof place !== 'object' || place === null) continue;
    for (const [name, value] of Object.entries(place)) {
      if (!tenantFields.includes(name) || typeof value !== 'string' || value === '') continue;
      if (value !== caller.tenant) throw new AppError('tenant_access_denied');
    }
  }
}

import { AppError, type Caller, type Endpoint, everyTenant } from '@svc/contract';
import Joi from 'joi';
import { compileCheck } from './compiled-checks/compile-check';
import { undecided } from './compiled-checks/description';

type RequestPart = 'path' | 'query' | 'body';

export interface Violation {
  in: RequestPart;
  /** Top-level field, as sent. */
  field: string;
  /** Path inside the field, such as `labels.team` or `tags[3]`. */
  path: string;
  message: string;
}

export interface Checked {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** Validates path, query and body together, so that one response reports all violations. */
export type Validate = (raw: Checked) => Checked;

const noQuery = Joi.object({});
/** Maximum violations reported per request. */
const MAX_VIOLATIONS = 100;

/**
 * The validator of an endpoint, compiled once. Valid requests are accepted by compiled checks, which return exactly the
 * value that Joi returns; Joi validates all others, so that every error is Joi's. See ADR 0007.
 *
 * @param compile a test passes one that compiles nothing, so that Joi alone decides
 * @throws (from the returned function) invalid_json for unknown body fields, a code of `violationCodes`, else invalid_body,
 *   all with `violations`
 */
export function createValidator(endpoint: Endpoint, compile: typeof compileCheck = compileCheck): Validate {
  const { bodyOptional, bodyIgnoresUnknown = false } = endpoint;
  const prepared = (schema: Joi.ObjectSchema, stripUnknown: boolean, more: Joi.ValidationOptions = {}): Part => {
    // Compiled into the schema, so that options are not merged on every request.
    const joi = schema.prefs({ abortEarly: false, stripUnknown, errors: { wrap: { label: false } }, ...more });
    return { joi, accept: compile(joi) };
  };
  const params = Object.keys(endpoint.params).length > 0 && prepared(Joi.object(endpoint.params), false);
  const query = prepared(endpoint.query ?? noQuery, true);
  const unasked = frozen(query.joi.validate({}));
  // Paths and queries are text; in JSON, `"5"` is not a number.
  const { bodyItems } = endpoint;
  const whole = endpoint.body && (bodyItems ? withoutItems(endpoint.body, bodyItems) : endpoint.body);
  const body = whole && prepared(whole, bodyIgnoresUnknown, { convert: false });
  const item =
    bodyItems && endpoint.body ? prepared(getItem(endpoint.body, bodyItems), false, { convert: false }) : undefined;
  const fields = endpoint.body && !bodyIgnoresUnknown ? getFields(endpoint.body) : undefined;
  return (raw) => {
    let isStrange = false;
    const violations: Violation[] = [];
    const check = (place: RequestPart, { joi, accept }: Part, value: unknown): unknown => {
      const accepted = accept ? accept(value) : undecided;
      if (accepted !== undecided) return accepted;
      if (fields && place === 'body') requireFewStrangers(value, fields);
      const result = joi.validate(value);
      if (result.error) {
        const { details } = result.error;
        isStrange ||= details.some(({ type }) => type === 'object.unknown');
        violations.push(...details.slice(0, MAX_VIOLATIONS).map((detail) => toViolation(place, detail)));
      }
      return result.value as unknown;
    };
    const asked = raw.query as Readonly<Record<string, unknown>>;
    const isAsked = Object.keys(asked).length > 0;
    const isRepeated = isAsked && Object.values(asked).some(Array.isArray);
    if (isRepeated) violations.push(...repeated(asked));
    const sent = raw.body === undefined && bodyOptional ? {} : raw.body;
    const hasObject = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
    const checked = {
      params: params ? check('path', params, raw.params) : raw.params,
      query: !isAsked && unasked ? unasked : check('query', query, isRepeated ? once(asked) : { ...asked }),
      body: body && hasObject ? check('body', body, sent) : {},
    };
    if (item && bodyItems && !violations.some(({ field }) => field === bodyItems)) {
      const fields = checked.body as Record<string, unknown>;
      const checkedItems = checkItems(item, bodyItems, fields[bodyItems]);
      if (checkedItems.items) checked.body = { ...fields, [bodyItems]: checkedItems.items };
      violations.push(...checkedItems.violations);
      isStrange ||= checkedItems.isStrange;
    }
    if (body && !hasObject) violations.push(noObject);
    if (!body && raw.body !== undefined && !isEmptyObject(raw.body)) violations.push(unexpectedBody);
    if (violations.length > 0) throw refusal(endpoint, violations, isStrange);
    return checked;
  };
}

/** The validation of one part of a request. */
interface Part {
  joi: Joi.ObjectSchema;
  /** Absent when the schema uses a rule that cannot be compiled. */
  accept: ReturnType<typeof compileCheck>;
}

const getItem = (body: Joi.ObjectSchema, list: string): Joi.ObjectSchema =>
  (body.extract(list).$_terms as { items: Joi.ObjectSchema[] }).items[0] ?? Joi.object();

/** The schema of a body in which the items of a list may have any form. Other lengths are still rejected. */
function withoutItems(body: Joi.ObjectSchema, list: string): Joi.ObjectSchema {
  return body.fork([list], (schema) => {
    const { rules = [], flags } = schema.describe() as { rules?: { name: string; args: { limit: number } }[]; flags?: { presence?: string } }; // prettier-ignore
    const limits = { min: 0, max: Infinity, ...Object.fromEntries(rules.map(({ name, args }) => [name, args.limit])) };
    const array = Joi.array().min(limits.min).max(limits.max);
    return flags?.presence === 'required' ? array.required() : array;
  });
}

interface CheckedItems {
  /** Absent when an item is not valid. */
  items?: unknown[];
  violations: Violation[];
  isStrange: boolean;
}

/** For a larger item only the first violation is reported. */
const MAX_EXPLAINED_CHARS = 65_536;

/** Validates the items of a list until too many violations were found. */
function checkItems({ joi, accept }: Part, list: string, value: unknown): CheckedItems {
  if (!Array.isArray(value)) return { violations: [], isStrange: false };
  const items: unknown[] = [];
  const violations: Violation[] = [];
  let isStrange = false;
  for (const [i, sent] of (value as unknown[]).entries()) {
    const accepted = accept && sent !== undefined ? accept(sent) : undecided;
    if (accepted !== undecided) {
      items.push(accepted);
      continue;
    }
    const isLarge = sent !== undefined && JSON.stringify(sent).length > MAX_EXPLAINED_CHARS;
    const result = joi.required().prefs({ abortEarly: isLarge }).validate(sent);
    items.push(result.value);
    const { details = [] } = result.error ?? {};
    isStrange ||= details.some(({ type }) => type === 'object.unknown');
    violations.push(
      ...details
        .slice(0, MAX_VIOLATIONS)
        .map((detail) => toViolation('body', { ...detail, path: [list, i, ...detail.path] })),
    );
    if (violations.length >= MAX_VIOLATIONS) break;
  }
  return violations.length > 0
    ? { violations: violations.slice(0, MAX_VIOLATIONS), isStrange }
    : { items, violations, isStrange };
}

/** Names of the known body fields; undefined when any field is allowed. */
function getFields(body: Joi.ObjectSchema): ReadonlySet<string> | undefined {
  const { keys = {}, flags, patterns } = body.describe() as { keys?: object; flags?: { unknown?: boolean }; patterns?: unknown }; // prettier-ignore
  return flags?.unknown || patterns ? undefined : new Set(Object.keys(keys));
}

/**
 * Rejects many unknown fields early; validating 100,000 of them would take half a second.
 *
 * @throws invalid_json
 */
function requireFewStrangers(body: unknown, fields: ReadonlySet<string>): void {
  const unknownFields = Object.keys(body as object).filter((name) => !fields.has(name));
  if (unknownFields.length <= MAX_VIOLATIONS) return;
  const violations = unknownFields.slice(0, MAX_VIOLATIONS).map((name) => unknownField('body', name, name));
  throw new AppError('invalid_json', { violations });
}

const unknownField = (place: RequestPart, field: string, path: string): Violation => {
  return { in: place, field, path, message: `${path} is not a field of this route; leave it out` };
};

/** Result of validating an empty query; undefined when a parameter is required. */
const frozen = ({ error, value }: Joi.ValidationResult): unknown =>
  error ? undefined : Object.freeze(value as Record<string, unknown>);

const noObject: Violation = { in: 'body', field: '', path: '', message: 'send a JSON object as the body' };
const unexpectedBody: Violation = { in: 'body', field: '', path: '', message: 'this route takes no body' };
const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** A repeated parameter is ambiguous: proxies and services may use different values. */
const repeated = (query: Readonly<Record<string, unknown>>): Violation[] =>
  Object.entries(query)
    .filter(([, value]) => Array.isArray(value))
    .map(([field]) => ({ in: 'query', field, path: field, message: 'send this parameter once' }));

const once = (query: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => !Array.isArray(value)));

/** Omits a key that does not look like a field name, because it may be data or a secret. */
const asName = (key: string | number | undefined): string | number =>
  typeof key !== 'string' || /^[a-z][a-z_]{0,39}$/.test(key) ? (key ?? '') : '(a key)';

function toViolation(place: RequestPart, { path, message, type }: Joi.ValidationErrorItem): Violation {
  const isUnknown = type === 'object.unknown';
  const shownPath = isUnknown && path.length > 1 ? [...path.slice(0, -1), asName(path.at(-1))] : path;
  const written = shownPath.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  );
  const field = String(path[0] ?? '');
  return isUnknown ? unknownField(place, field, written) : { in: place, field, path: written, message };
}

function refusal(endpoint: Endpoint, violations: Violation[], isStrange: boolean): AppError {
  const codes = endpoint.violationCodes ?? {};
  const special = violations.map(({ field }) => (Object.hasOwn(codes, field) ? codes[field] : undefined)).find(Boolean);
  const [only, ...others] = violations;
  const singleError = only && others.length === 0 ? { error: only.message } : {};
  if (isStrange || violations.includes(unexpectedBody))
    return new AppError('invalid_json', { ...singleError, violations });
  return special ? new AppError(special, { violations }) : new AppError('invalid_body', { ...singleError, violations });
}

/** Fields that may repeat the tenant of a request. See docs/reference/http.md#tenants. */
const tenantFields = ['tenant', 'tenant_id', 'org_id'];

/**
 * Rejects a request whose query or body names another tenant than it acts for. A caller with access to all tenants who
 * named none is handled by the service.
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

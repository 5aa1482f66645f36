import type Joi from 'joi';
import type { EndpointAudit } from './audit/endpoint-audit';
import type { ErrorCode } from './errors';
import type { Access, EntitlementName } from './permissions';
import type { DataPurpose } from './subjects';

export type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/**
 * One HTTP endpoint, declared once: validation, authorization, OpenAPI, the typed handler and the table-walking tests are derived
 * from it. Its handler is in the `routes.ts` of its feature.
 */
// The three `any` defaults are what lets a list hold endpoints of every type; nothing is read through them.
/* eslint-disable @typescript-eslint/no-explicit-any */
export interface Endpoint<
  Path extends string = string,
  Query = any,
  Body = any,
  Answer = any,
  Gate extends Access | 'public' = Access | 'public',
> {
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: Path;
  summary: string;
  description?: string;
  access: Gate;
  /** Features of the license, one of which the route requires; without it the answer is 403 `tier_limit_exceeded`. */
  entitledBy?: readonly [EntitlementName, ...EntitlementName[]];
  /** Required for methods other than GET; a read is recorded only where it is declared. */
  audit?: EndpointAudit;
  params: { [Name in ParamNames<Path>]: Joi.StringSchema };
  query?: Joi.ObjectSchema<Query>;
  body?: Joi.ObjectSchema<Body>;
  /** An empty body reads as `{}`. */
  bodyOptional?: true;
  /** Unknown body fields are ignored rather than refused. See docs/reference/http.md#requests. */
  bodyIgnoresUnknown?: true;
  /**
   * A list in the body whose items are validated one by one, up to 100 violations, so that a large body with many errors costs
   * no more than a valid one.
   */
  bodyItems?: string;
  /** The body is raw bytes of any media type, passed to the handler unparsed. Such a route declares no `body`. */
  rawBody?: true;
  /** The body is an HTML form (`application/x-www-form-urlencoded`) instead of JSON; its fields are texts. */
  formBody?: true;
  /**
   * A public route that pages of other sites may send forms to, such as a page of an identity provider. Its handler accepts
   * no credential of the browser.
   */
  crossSite?: true;
  /** Which configured limit caps the body; absent = the JSON body limit. */
  bodyLimit?: 'job' | 'artifact' | 'data' | 'dataset' | 'form';
  /** Error code of a body over its limit; `request_too_large` otherwise. */
  tooLarge?: ErrorCode;
  /**
   * `raw`: the answer is bytes, sent as application/octet-stream. `stream`: bytes of one of these media types, of any length,
   * sent as they are produced. `media`: the answer is text of this media type. `events`: Server-Sent Events. Status 101: a
   * WebSocket; its handler serves requests that do not upgrade. Status 302: a redirect, whose handler sets Location.
   */
  answer: {
    status: 101 | 200 | 201 | 204 | 302;
    body?: Joi.Schema<Answer>;
    headers?: Record<string, string>;
    raw?: true;
    media?: string;
    stream?: readonly string[];
    events?: true;
  };
  /** No rate limit, so that probes respond while a client floods the public routes from the same address. */
  unlimited?: true;
  /**
   * A public route whose credential is the token in its query: it is verified before the body is read, and its tenant takes the
   * rate limit. The handler checks what the token allows.
   */
  signedUrl?: DataPurpose;
  /**
   * A public route whose credential is checked by its feature, before the body is read: other credentials are ignored, and the
   * tenant that it is for takes the rate limit.
   */
  ownCredential?: 'scim_token';
  /** A public route that returns more to authenticated callers; invalid credentials count as none. */
  knowsCallers?: true;
  /** A public route that signs in: a page of another origin may not call it, since its visitor would use a foreign account. */
  signsIn?: true;
  /** Further answers of the same route, by status, such as a probe's 503; a handler picks one with `answer(body, { status })`. */
  otherAnswers?: Readonly<Record<number, { description: string; body?: Joi.Schema; media?: string }>>;
  /** Error codes for violations of individual body or query fields; `invalid_body` otherwise. */
  violationCodes?: Readonly<Record<string, ErrorCode>>;
  errors: readonly ErrorCode[];
  /** Response to a caller of another tenant than the record's. */
  otherTenant?: 'tenant_access_denied' | 'approval_forbidden' | 'data_url_invalid' | 'absent' | 'nothing';
  /** The records belong to the installation: tenants may read them, only its admins may write them. */
  owner?: 'installation';
}
/* eslint-enable @typescript-eslint/no-explicit-any */

/** Declares an endpoint and keeps its types: a route without a body in its answer has a handler that returns nothing. */
export const endpoint = <
  const Path extends string,
  Query = object,
  Body = object,
  Answer = void,
  const Gate extends Access | 'public' = Access | 'public',
>(
  declaration: Endpoint<Path, Query, Body, Answer, Gate>,
): Endpoint<Path, Query, Body, Answer, Gate> => declaration;

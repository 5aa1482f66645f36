import type { AppError, ErrorCode } from '../errors';
import type { WireForm } from '../wire-form';

const errorSchemaId = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Keyword of an error (`scimType`), for errors that have one. */
const scimTypes: Partial<Record<ErrorCode, string>> = {
  invalid_json: 'invalidSyntax',
  invalid_body: 'invalidValue',
  scim_invalid_filter: 'invalidFilter',
  scim_invalid_path: 'invalidPath',
  scim_invalid_syntax: 'invalidSyntax',
  scim_invalid_value: 'invalidValue',
  scim_mutability: 'mutability',
  scim_no_target: 'noTarget',
  scim_uniqueness: 'uniqueness',
};

/** SCIM 2.0. See docs/reference/scim.md#errors. */
export const scimForm: WireForm = {
  basePath: '/api/v1/scim/v2',
  mediaType: 'application/scim+json',
  errorSchema: {
    name: 'ScimError',
    schema: {
      type: 'object',
      required: ['schemas', 'status'],
      properties: {
        schemas: { type: 'array', items: { type: 'string', enum: [errorSchemaId] } },
        status: { type: 'string', description: 'The HTTP status again.' },
        scimType: {
          type: 'string',
          enum: [...new Set(Object.values(scimTypes))],
          description: 'Keyword of the error.',
        },
        detail: { type: 'string', description: 'Error message for humans.' },
      },
    },
  },
  toErrorBody(error: AppError) {
    const { status, error: text, code, ...extras } = error.toBody();
    const scimType = scimTypes[error.errorCode];
    const body = {
      schemas: [errorSchemaId],
      status: String(status),
      ...(scimType && { scimType }),
      detail: readViolations(extras['violations']) || text,
    };
    if (error.errorCode !== 'tier_limit_exceeded') return { status, body };
    const { message, limit, upgrade_url } = extras;
    return {
      status,
      body: { ...body, ...(message !== undefined && { detail: message }), error: text, code, limit, upgrade_url },
    };
  },
};

const readViolations = (violations: unknown): string =>
  Array.isArray(violations) ? violations.map(({ message }: { message: string }) => message).join('; ') : '';

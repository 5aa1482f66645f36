import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endpoints } from './endpoints';
import type { Endpoint } from './endpoint';
import { AppError, errorCodes, type ErrorCode } from './errors';

const codes = Object.keys(errorCodes) as ErrorCode[];

/** Reserved: declared for clients, not thrown yet. */
const reserved: readonly ErrorCode[] = [];

/** Any route may return these, so no endpoint lists them. */
const anywhere: readonly ErrorCode[] = [
  'invalid_json', 'invalid_body', 'unauthorized', 'access_denied', 'tenant_access_denied', 'tenant_id_required', 'tenant_suspended',
  'origin_not_allowed', 'key_scope_insufficient', 'not_found', 'method_not_allowed', 'unsupported_media_type',
  'request_too_large', 'rate_limited', 'internal_error', 'service_unavailable', 'store_unavailable',
]; // prettier-ignore

const root = join(__dirname, '../../..');
const sources = ['libs', 'apps']
  .map((folder) => join(root, folder))
  .flatMap((dir) => readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((file) => join(dir, file)))
  .filter(
    (file) =>
      /\/src\/.*\.ts$/.test(file) &&
      !/\.(test|testing|fixture)\.ts$|contract\/src\/(errors\.ts|endpoints\.ts|[a-z]+\/)/.test(file),
  )
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
/** Thrown by the validation of requests for the field that they belong to. */
const ofFields = new Set(
  (endpoints as readonly Endpoint[]).flatMap(({ violationCodes = {} }) => Object.values(violationCodes)),
);
const listed = new Set((endpoints as readonly Endpoint[]).flatMap(({ errors }) => errors));

describe('error codes', () => {
  it('every code is thrown somewhere, or reserved', () => {
    expect(codes.filter((code) => !ofFields.has(code) && !sources.includes(`'${code}'`))).toEqual(reserved);
  });

  it('every code is declared by an endpoint, or may be returned by any', () => {
    const known = [...listed, ...anywhere, ...reserved];

    expect(codes.filter((code) => !known.includes(code))).toEqual([]);
  });

  it.each(codes)('%s has a status of an error, a text and a plain code', (name) => {
    const { status, text, code = name }: { status: number; text: string; code?: string } = errorCodes[name];

    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(text).not.toBe('');
    expect(code).toMatch(/^([a-z]+(_[a-z0-9]+)*|[A-Z]+(_[A-Z]+)*)$/);
  });

  it.each(['internal_error', 'upstream_service_error', 'service_unavailable'] as const)(
    '%s reveals no detail',
    (code) => {
      expect(errorCodes[code].text).toBe(code.replaceAll('_', ' '));
    },
  );
});

describe('AppError', () => {
  it('becomes the one error body', () => {
    expect(new AppError('job_not_found').toBody()).toEqual({
      error: 'job not found',
      code: 'job_not_found',
      status: 404,
    });
    expect(new AppError('backpressure', { limit: 3 }).toBody()).toEqual({
      error: 'too many active jobs',
      code: 'BACKPRESSURE',
      status: 429,
      limit: 3,
    });
  });

  it('replaces the public text with the text of the request', () => {
    const error = new AppError('invalid_body', { error: 'topic must begin with job.' });

    expect(error.message).toBe('topic must begin with job.');
    expect(error.toBody().error).toBe('topic must begin with job.');
  });
});

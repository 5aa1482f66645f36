import { AppError, configWrite, type ConfigWrite } from '@svc/contract';
import type Joi from 'joi';

/** A parsed write, and the path of its data in the body, for messages. */
export interface ParsedWrite extends ConfigWrite {
  /** 'data.' in the wrapped form, '' in the flat one. */
  prefix: string;
}

const prefs = { abortEarly: false, convert: false, errors: { wrap: { label: false } } } as const;

/**
 * Reads the body of a write: with a string `scope` it names its document, without one it is data for system/default.
 * See docs/reference/config.md#documents.
 *
 * @throws invalid_json for fields that the wrapped form does not know, config_request_invalid for an unknown scope,
 *   config_invalid for everything else
 */
export function parseWrite(body: Readonly<Record<string, unknown>>): ParsedWrite {
  if (typeof body['scope'] !== 'string') return { scope: 'system', data: { ...body }, meta: {}, prefix: '' };
  const { error, value } = configWrite.validate(body, prefs);
  if (!error) return { ...value, prefix: 'data.' };
  throw refusal(error.details);
}

function refusal(details: readonly Joi.ValidationErrorItem[]): AppError {
  const violations = details.map(({ path, message, type }) => {
    const text = type === 'object.unknown' ? `${path.join('.')} is not a field of this route; remove it` : message;
    return { in: 'body', field: String(path[0] ?? ''), path: path.join('.'), message: text };
  });
  if (details.some(({ type }) => type === 'object.unknown')) return new AppError('invalid_json', { violations });
  const isScope = violations.some(({ field }) => field === 'scope');
  return new AppError(isScope ? 'config_request_invalid' : 'config_invalid', { violations });
}

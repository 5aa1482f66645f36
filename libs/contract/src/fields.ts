import Joi from 'joi';
import { limits } from './limits';

/** Schemas that several endpoints share. */

export const jobId = Joi.string().min(1).max(limits.idChars).description('Job id.');
export const text = (description: string): Joi.StringSchema => Joi.string().allow('').description(description);
/** Text without surrounding spaces; the only conversion of JSON body fields. */
export const trimmed = (): Joi.StringSchema => Joi.string().trim().prefs({ convert: true });
export const micros = (description: string): Joi.NumberSchema =>
  Joi.number().integer().description(`${description} Microseconds since the epoch.`);
export const count = (description: string): Joi.NumberSchema => Joi.number().integer().min(0).description(description);
export const usd = (description: string): Joi.NumberSchema =>
  Joi.number().min(0).description(`${description} US dollars.`);
export const strings = (description: string): Joi.ArraySchema<string[]> =>
  Joi.array().items(Joi.string().allow('')).description(description);
export const stringMap = (description: string): Joi.ObjectSchema<Record<string, string>> =>
  Joi.object().pattern(/.*/, Joi.string().allow('')).description(description);
export const anyObject = (description: string): Joi.ObjectSchema<Record<string, unknown>> =>
  Joi.object().unknown().description(description);

/**
 * Page size. Missing, not a number, zero or negative reads as the route's default; more than 500 as 500.
 * See docs/reference/http.md#paging.
 */
export const pageLimit = (standard: number, most: number = limits.pageMost): Joi.Schema<number> =>
  Joi.any()
    .custom((value: unknown) => {
      const number = Math.floor(Number(value));
      return number > 0 ? Math.min(number, most) : standard;
    })
    .default(standard)
    .description(`Page size, at most ${most}. Default ${standard}.`);

/** The unit of integer times is inferred from their size and converted to microseconds; an invalid cursor is ignored. */
export function toMicros(value: number, upperBound: boolean): number {
  if (value < 1e12) return value * 1e6 + (upperBound ? 999_999 : 0);
  if (value < 1e15) return value * 1e3 + (upperBound ? 999 : 0);
  return value < 1e18 ? value : Math.floor(value / 1e3);
}

const time = (upperBound: boolean) =>
  Joi.any().custom((value: unknown) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number <= 0) return undefined;
    // Nanoseconds exceed the integers that a number represents exactly.
    const isExact = number < 1e18 || !/^\d+$/.test(String(value));
    return isExact ? toMicros(number, upperBound) : Number(BigInt(String(value)) / 1000n);
  });

export const cursor: Joi.Schema<number | undefined> = time(true).description(
  'next_cursor of the last page, unchanged. An invalid cursor is ignored.',
);
export const after: Joi.Schema<number | undefined> = time(false).description(
  'Only items updated at or after this time; seconds, milliseconds, microseconds or nanoseconds, inferred from the size.',
);
export const before: Joi.Schema<number | undefined> = time(true).description(
  'Only items updated at or before this time; a coarser unit includes its whole span.',
);
/** A time as RFC 3339 text or ms since the epoch; read as ms. */
export const moment = (description: string): Joi.Schema<number> =>
  Joi.any()
    .custom((value: unknown, helpers) => {
      const ms = /^\d{1,15}$/.test(String(value)) ? Number(value) : Date.parse(String(value));
      return Number.isFinite(ms) ? ms : helpers.error('any.invalid');
    })
    .messages({ 'any.invalid': '{{#label}} must be a time, such as 2026-01-31T12:00:00Z or ms since the epoch' })
    .description(description) as Joi.Schema<number>;
/** Query booleans: 1, true, yes, y and on in any case are true; all other values are false. */
export const flag = (standard: boolean): Joi.Schema<boolean> =>
  Joi.any()
    .custom((value: unknown) => ['1', 'true', 'yes', 'y', 'on'].includes(String(value).toLowerCase()))
    .default(standard);

/** The topic pattern of submissions. See docs/reference/routing.md#topics. */
export const submitTopic = Joi.string()
  .max(limits.topicChars)
  .pattern(/^job\.(?!.*\.\.)[a-zA-Z0-9]([a-zA-Z0-9_.-]*[a-zA-Z0-9])?$/)
  .messages({
    'string.pattern.base':
      '{{#label}} must begin with job., followed by letters, digits, _, - and single dots, and end with a letter or digit',
  });

export const waitForEnd = (what: string): Joi.NumberSchema<number> =>
  Joi.number<number>()
    .integer()
    .min(0)
    .max(20_000)
    .default(0)
    .description(`Respond when the ${what} has ended, or after this many ms with its current state; 0 = immediately.`);

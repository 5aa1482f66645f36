import Joi from 'joi';
import { limits } from '../limits';
import { shape } from '../shape';

/** Limits that a job names by keys of its tenant. See docs/reference/routing.md#limits-by-key. */
export interface LimitFields {
  concurrency?: ConcurrencyField;
  rate?: RateField;
  debounce?: DebounceField;
  singleton?: SingletonField;
}

export interface ConcurrencyField {
  key: string;
  limit: number;
  strategy: 'queue' | 'cancel_newest' | 'cancel_oldest';
}
export interface RateField {
  key: string;
  limit: number;
  per: string;
}
export interface DebounceField {
  key: string;
  period: string;
  max_wait?: string;
}
export interface SingletonField {
  key: string;
  mode: 'reject' | 'return';
}

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** The milliseconds of a time such as `30s`, `5m` or `1h`; NaN for other text. */
export function parseDurationMs(text: string): number {
  const [, value, unit] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? [];
  return unit === undefined ? NaN : Number(value) * unitsMs[unit as keyof typeof unitsMs];
}

const key = Joi.string()
  .min(1)
  .max(limits.limitKeyChars)
  .pattern(/^[^\p{Cc}]+$/u)
  .messages({ 'string.pattern.base': '{{#label}} must not contain control characters' })
  .description('Key; it belongs to the tenant.');
const most = Joi.number().integer().min(1).max(limits.limitByKey);
/** At most 24 hours. A pattern, since submissions are checked by compiled code, which runs no functions on texts. */
const period =
  /^(?:(?:[1-9]\d{0,3}|[1-7]\d{4}|8[0-5]\d{3}|86[0-3]\d{2}|86400)s|(?:[1-9]\d{0,2}|1[0-3]\d{2}|14[0-3]\d|1440)m|(?:[1-9]|1\d|2[0-4])h)$/;
const duration = (description: string) =>
  Joi.string()
    .max(8)
    .pattern(period)
    .messages({ 'string.pattern.base': '{{#label}} must be a time such as 30s, 5m or 1h, at most 24h' })
    .description(`${description} A time such as 30s, 5m or 1h, at most 24h.`);

/** Fields of a submission, and of the detail of its job. */
export const limitFields = {
  concurrency: shape<ConcurrencyField>({
    required: {
      key,
      limit: most.description('Jobs with this key that run at the same time.'),
      strategy: Joi.string<ConcurrencyField['strategy']>()
        .valid('queue', 'cancel_newest', 'cancel_oldest')
        .default('queue')
        .description(
          'queue: the job waits. cancel_newest: it is cancelled. cancel_oldest: the oldest job of the key is.',
        ),
    },
  }).description('Limits the jobs with a key that run at the same time.'),
  rate: shape<RateField>({
    required: { key, limit: most.description('Starts per period.'), per: duration('The period.') },
  }).description('Limits the starts of jobs with a key; further jobs wait.'),
  debounce: shape<DebounceField>({
    required: { key, period: duration('Time without a newer submission after which the job starts.') },
    optional: {
      max_wait: duration('Time since the first submission after which it starts anyway. Default: 10 periods.'),
    },
  }).description('A newer submission with the key replaces the waiting job.'),
  singleton: shape<SingletonField>({
    required: {
      key,
      mode: Joi.string<SingletonField['mode']>()
        .valid('reject', 'return')
        .default('reject')
        .description('While a job of the key is open, reject: 409 singleton_conflict; return: its id.'),
    },
  }).description('At most one open job per key.'),
};

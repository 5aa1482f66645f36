import { limits, parseDurationMs, type DebounceField, type LimitFields, type RateField } from '@svc/contract';
import { definitionLimits } from './limits';
import { fields, integer, isTemplate, oneOf, text, type Field } from './fields';
import type { StepLimits } from './workflow';

const keyText = text(limits.limitKeyChars, {
  fits: /^[^\p{Cc}]+$/u,
  message: 'must not contain control characters',
});
const keyTemplate = text(definitionLimits.textChars);
/** The key of a template is checked when it is evaluated. */
const key: Field<string> = (value, path, faults) => (isTemplate(value) ? keyTemplate : keyText)(value, path, faults);

const count = integer(1, limits.limitByKey);
const duration: Field<string> = (value, path, faults) => {
  const ms = typeof value === 'string' && value.length <= 8 ? parseDurationMs(value) : NaN;
  if (ms <= limits.limitPeriodMs) return value as string;
  faults.add(path, 'must be a time such as 30s, 5m or 1h, at most 24h');
  return undefined;
};

type Concurrency = NonNullable<StepLimits['concurrency']>;
type Singleton = NonNullable<StepLimits['singleton']>;

/** Limits by key of the job of a step: those of a submission, with templates in the keys. */
export const limitFields = {
  concurrency: fields<Concurrency>(
    { key, limit: count, strategy: oneOf(['queue', 'cancel_newest', 'cancel_oldest']) },
    { required: ['key', 'limit'] },
  ),
  rate: fields<RateField>({ key, limit: count, per: duration }, { required: ['key', 'limit', 'per'] }),
  debounce: fields<DebounceField>({ key, period: duration, max_wait: duration }, { required: ['key', 'period'] }),
  singleton: fields<Singleton>({ key, mode: oneOf(['reject', 'return']) }, { required: ['key'] }),
};

/** Whether a text can be a key. */
export const isLimitKey = (value: string): boolean =>
  value.length > 0 && value.length <= limits.limitKeyChars && !/\p{Cc}/u.test(value);

/** Kinds of limits, in the order in which a job passes them. */
export const limitKinds = ['singleton', 'debounce', 'concurrency', 'rate'] as const satisfies (keyof LimitFields)[];

import type { LimitFields } from '@svc/contract';
import { isLimitKey, limitKinds } from '../definition/limit-fields';
import type { StepDefinition } from '../definition/workflow';
import { render } from '../planner/scope';
import type { StepContext } from './kind';

type Rendered = { kind: 'ok'; value: LimitFields | undefined } | { kind: 'bad'; message: string };

/** Limits by key of the job of a step, with evaluated keys. Messages do not contain a key, which may be a secret. */
export function renderLimits(at: StepContext): Rendered {
  const { def } = at.node;
  const keys: Partial<Record<keyof LimitFields, string>> = {};
  for (const kind of limitKinds) {
    const template = def[kind]?.key;
    if (template === undefined) continue;
    const rendered = render(at, template);
    if (rendered.kind === 'bad') return { kind: 'bad', message: `${kind}.key: ${rendered.message}` };
    const key = toKey(rendered.value);
    // An empty key would be shared by all runs without a value.
    if (key === undefined || !isLimitKey(key)) {
      return { kind: 'bad', message: `${kind}.key must be a text of 1 to 256 characters, or a number` };
    }
    keys[kind] = key;
  }
  return { kind: 'ok', value: withKeys(def, keys) };
}

const toKey = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;

function withKeys(
  { concurrency, rate, debounce, singleton }: StepDefinition,
  keys: Partial<Record<keyof LimitFields, string>>,
): LimitFields | undefined {
  if (!concurrency && !rate && !debounce && !singleton) return undefined;
  return {
    ...(concurrency && { concurrency: { strategy: 'queue', ...concurrency, key: keys.concurrency ?? '' } }),
    ...(rate && { rate: { ...rate, key: keys.rate ?? '' } }),
    ...(debounce && { debounce: { ...debounce, key: keys.debounce ?? '' } }),
    ...(singleton && { singleton: { mode: 'reject', ...singleton, key: keys.singleton ?? '' } }),
  };
}

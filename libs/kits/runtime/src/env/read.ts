import { commonVariables } from './common';
import type { EnvOf, EnvSpec, Variable, Variables } from './declare';
import { expectedForm, parseBool, parseValue } from './parse';
import { EnvError, type Problem } from './problem';
import { askedButUnavailable } from './unavailable-controls';

/** Result of reading a service's environment. */
export interface Reading<Values> {
  values: Values;
  /** Values that did not parse; their defaults are in effect (development only). */
  warnings: readonly Problem[];
  /** Effective value of each variable, secrets masked; printed by `--check-env`. */
  effective: readonly { name: string; shown: string; origin: Origin }[];
  /** Values of secret variables, and passwords within URLs, which the logger masks in every line. */
  secrets: readonly string[];
}

type Origin = 'set' | 'default' | 'unset';
interface ResolvedVariable {
  name: string;
  text: string;
  variable: Variable;
  /** 1000 when the value is in whole seconds. */
  toMs?: number;
}

/**
 * Production or not. Development when neither variable is set.
 *
 * @throws EnvError when SVC_PRODUCTION is not a boolean or SVC_ENV is unknown: a fallback to development would disable
 *   every production rule because of a typo
 */
export function isProduction(source: NodeJS.ProcessEnv): boolean {
  const flag = source.SVC_PRODUCTION || 'false';
  const production = parseBool(flag);
  if (production === undefined) {
    throw new EnvError('environment', [
      { name: 'SVC_PRODUCTION', given: quote(flag), expected: 'true or false', fix: 'Set one of the two.' },
    ]);
  }
  const name = source.SVC_ENV?.trim() || 'development';
  const environment = parseValue(commonVariables.environment, name);
  if (environment === undefined) {
    throw new EnvError('environment', [
      {
        name: 'SVC_ENV',
        given: quote(name),
        expected: 'production (or prod) or development (or dev)',
        fix: 'Set one of them: production enforces the production rules, development does not.',
      },
    ]);
  }
  return production || environment === 'production';
}

/**
 * Reads a service's whole environment once and reports every problem together. A value that does not parse is replaced
 * by the default, with a warning, in development, and prevents startup in production (operations contract, head). A
 * violated rule, or a security control that this version does not have, always prevents startup.
 *
 * @throws EnvError with all problems
 */
export function readEnv<T extends Variables>(
  spec: EnvSpec<T>,
  source: NodeJS.ProcessEnv,
  { production }: { production: boolean } = { production: isProduction(source) },
): Reading<EnvOf<T>> {
  const warnings: Problem[] = [];
  const missing: Problem[] = [];
  const effective: Reading<unknown>['effective'][number][] = [];
  const secrets: string[] = [];
  const values: Record<string, unknown> = { production };

  for (const [key, variable] of Object.entries(spec.variables)) {
    if (variable.type === 'family') {
      const members = familyIn(variable.name, source);
      values[key] = Object.freeze(members);
      if (variable.secret) secrets.push(...Object.values(members));
      const ids = Object.keys(members).join(', ');
      effective.push({ name: variable.name, shown: ids, origin: ids ? 'set' : 'unset' });
      continue;
    }
    const found = find(variable, source);
    if (found) secrets.push(...getSecrets(found));
    const parsed = found && parseValue(found.variable, found.text);
    if (found && parsed === undefined) warnings.push(unreadable(found));
    if (!found && production && variable.requiredInProduction) missing.push(unset(variable));

    const fallback = (production ? variable.productionDefault : undefined) ?? variable.default;
    const value =
      scaled(found, parsed) ?? (fallback === undefined ? emptyValue(variable) : parseValue(variable, fallback));
    values[key] = value;
    const isSet = found !== undefined && parsed !== undefined;
    effective.push({
      name: found?.name ?? variable.name,
      shown: isSet ? shown(found) : (fallback ?? ''),
      origin: isSet ? 'set' : fallback === undefined ? 'unset' : 'default',
    });
  }

  const typed = Object.freeze(values) as EnvOf<T>; // each value was read by the type its key declares
  const unparsed = production ? warnings : [];
  const known = new Set([...unparsed, ...missing].map(({ name }) => name));
  const broken = spec.rules.flatMap((rule) => rule(typed)).filter(({ name }) => !known.has(name));
  const problems = [...unparsed, ...missing, ...broken, ...askedButUnavailable(source)];
  if (problems.length > 0) throw new EnvError(spec.service, problems);
  return { values: typed, warnings, effective, secrets: secrets.filter((secret) => secret.length >= 6) };
}

/** An empty variable counts as unset, because compose files pass unset variables as empty text. */
function find(variable: Variable, source: NodeJS.ProcessEnv): ResolvedVariable | undefined {
  if (variable.type === 'duration' && variable.secondsName && source[variable.secondsName]) {
    const { secondsName: name, doc } = variable;
    return { name, text: source[name] ?? '', variable: { name, doc, type: 'int', min: 0 }, toMs: 1_000 };
  }
  for (const name of [variable.name, ...(variable.aliases ?? [])]) {
    const text = source[name]?.trim();
    if (text) return { name, text, variable };
  }
  return undefined;
}

const scaled = (found: ResolvedVariable | undefined, parsed: unknown) =>
  found?.toMs && typeof parsed === 'number' ? parsed * found.toMs : parsed;

const emptyValue = ({ type }: Variable) => (type === 'list' ? Object.freeze([]) : undefined);

function familyIn(name: string, source: NodeJS.ProcessEnv): Record<string, string> {
  const prefix = name.slice(0, name.indexOf('<'));
  const members = Object.entries(source).filter(([key, text]) => key.startsWith(prefix) && key !== prefix && text);
  return Object.fromEntries(members.map(([key, text]) => [key.slice(prefix.length), text ?? '']));
}

function getSecrets({ variable, text }: ResolvedVariable): string[] {
  const password = variable.type === 'url' && URL.canParse(text) ? new URL(text).password : '';
  const items = variable.type === 'list' ? text.split(',').map((item) => item.trim()) : [];
  return [...(variable.secret ? [text, ...items] : []), ...(password ? [password, decoded(password)] : [])];
}

/** A `%` that is not an escape is kept as is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const quote = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

function shown({ variable, text }: ResolvedVariable): string {
  if (variable.secret) return `[REDACTED, ${text.length} characters]`;
  // Masks everything before the last @, so that the password of a malformed URL is hidden too.
  if (variable.type === 'url') return quote(text.replace(/^([a-z0-9+.-]*:\/\/)?.*@/is, '$1[REDACTED]@'));
  return quote(text.replace(/\/\/[^/@]*@/, '//[REDACTED]@'));
}

const unreadable = (found: ResolvedVariable): Problem => ({
  name: found.name,
  given: shown(found),
  expected: expectedForm(found.variable),
  fix: `Correct it or unset it${found.variable.default === undefined ? '' : ` (default ${found.variable.default})`}.`,
});

const unset = (variable: Variable): Problem => ({
  name: variable.name,
  expected: `${expectedForm(variable)}, set explicitly in production`,
  fix: `Set it: ${variable.doc}`,
});

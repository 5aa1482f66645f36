import type { EnvSpec, Variable, Variables } from './declare';
import { expectedForm } from './parse';
import type { Reading } from './read';

/** The part of `--help` that lists a service's variables. */
export function envHelp<T extends Variables>({ variables }: EnvSpec<T>): string {
  return Object.values<Variable>(variables)
    .map((v) => `  ${names(v)} (${defaults(v) || 'no default'})\n      ${v.doc} ${capital(expectedForm(v))}.`)
    .join('\n');
}

/** A Markdown table of variables for docs/operations.md. */
export function envTable<T extends Variables>({ variables }: Pick<EnvSpec<T>, 'variables'>): string {
  const rows = Object.values<Variable>(variables).map((v) =>
    [`\`${names(v)}\``, defaults(v), `${cell(v.doc)} ${capital(cell(expectedForm(v)))}.`].join(' | '),
  );
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows.map((row) => `| ${row} |`)].join('\n');
}

/** Output of `--check-env`: the effective value of each variable. */
export function envReport({ effective }: Pick<Reading<unknown>, 'effective'>): string {
  return effective
    .map(({ name, shown, origin }) => `  ${name}=${shown}${origin === 'set' ? '' : ` (${origin})`}`)
    .join('\n');
}

function names(v: Variable): string {
  const seconds = v.type === 'duration' && v.secondsName ? [v.secondsName] : [];
  return [v.name, ...(v.aliases ?? []), ...seconds].join(', ');
}

function defaults(v: Variable): string {
  const development = v.shownDefault ?? v.default ?? '';
  if (v.requiredInProduction) return `${development}${development && '; '}must be set in production`;
  return v.productionDefault === undefined ? development : `${development}; ${v.productionDefault} in production`;
}

const cell = (text: string) => text.replaceAll('|', '\\|');
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

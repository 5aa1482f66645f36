import { overrideModes, type OverrideMode } from '@svc/contract';
import { parseArgs } from 'node:util';
import type { Thresholds } from './diff';

export const help = `npm run policy -- COMMAND: checks and tests policies before they are published, for example in a pull request.

  check FILE                      validate the policy; prints every error with its line
  test FILE --cases CASES.yaml    run test cases, and list the rules that no case covers
  diff OLD NEW --since 7d         compare the decisions of OLD and NEW on recent requests
  export FILE --since 7d          write recent requests to FILE, including job inputs, for a later diff

  --bundles DIR       bundles to merge with FILE; DIR/secops/name.yaml is the bundle secops/name
  --overrides MODE    policy.overrides of the installation: tighten (default) or extend
  --scanners FILE     scanner definitions (default config/output_scanners.yaml)
  --json              print the result as one line of JSON on standard output; other output goes to standard error
  --help              print this help

of test:
  --min-coverage N    fail when the cases cover less than N percent of the rules
of diff and export:
  --since TIME        age of the oldest decision: 30m, 12h, 7d (default 7d)
  --most N            maximum number of decisions (default 10000)
of diff:
  --decisions FILE    read decisions from an export instead of the Redis at REDIS_URL
  --max-changed N     fail when more than N percent of the decisions change
  --max-looser N      fail when more than N decisions become less strict
  --max-approvals N   fail when more than N additional decisions require approval
  --max-uncovered N   fail when more than N percent of the decisions match no rule

Exit codes: 0 success, 1 failed case or exceeded limit, 2 invalid input.
`;

export type Command = 'check' | 'test' | 'diff' | 'export';

export interface PolicyOptions {
  command: Command;
  files: readonly string[];
  cases: string;
  bundles: string | undefined;
  overrides: OverrideMode;
  scanners: string;
  minCoverage: number;
  sinceMs: number;
  most: number;
  decisions: string | undefined;
  limits: Thresholds;
  json: boolean;
}

/** Invalid input, with one message per problem; exits with 2. */
export class Unusable extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

const arity: Readonly<Record<Command, number>> = { check: 1, test: 1, diff: 2, export: 1 };

/** @returns undefined when help is requested. @throws Unusable describing an invalid command line */
export function readOptions(args: string[]): PolicyOptions | undefined {
  const { values, positionals } = parsed(args);
  if (values.help) return undefined;
  const [word = '', ...files] = positionals;
  const command = (Object.keys(arity) as Command[]).find((known) => known === word);
  if (!command)
    throw new Unusable([`the command must be one of ${Object.keys(arity).join(', ')}, not ${word || 'empty'}`]);
  if (files.length !== arity[command])
    throw new Unusable([
      `${command} takes ${arity[command]} file${arity[command] > 1 ? 's' : ''}, but ${files.length} were given`,
    ]);
  if (command === 'test' && !values.cases) throw new Unusable(['test requires --cases FILE']);
  return {
    command,
    files,
    cases: values.cases ?? '',
    bundles: values.bundles,
    overrides: overrideMode(values.overrides),
    scanners: values.scanners,
    minCoverage: percent('--min-coverage', values['min-coverage']),
    sinceMs: duration(values.since),
    most: count('--most', values.most),
    decisions: values.decisions,
    limits: {
      changed: percent('--max-changed', values['max-changed']),
      looser: count('--max-looser', values['max-looser']),
      approvals: count('--max-approvals', values['max-approvals']),
      uncovered: percent('--max-uncovered', values['max-uncovered']),
    },
    json: values.json,
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        cases: { type: 'string' },
        bundles: { type: 'string' },
        overrides: { type: 'string', default: 'tighten' },
        scanners: { type: 'string', default: 'config/output_scanners.yaml' },
        'min-coverage': { type: 'string', default: '0' },
        since: { type: 'string', default: '7d' },
        most: { type: 'string', default: '10000' },
        decisions: { type: 'string' },
        'max-changed': { type: 'string', default: '100' },
        'max-looser': { type: 'string', default: String(Number.MAX_SAFE_INTEGER) },
        'max-approvals': { type: 'string', default: String(Number.MAX_SAFE_INTEGER) },
        'max-uncovered': { type: 'string', default: '100' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new Unusable([error instanceof Error ? error.message : String(error)]);
  }
}

function overrideMode(text: string): OverrideMode {
  const mode = overrideModes.find((known) => known === text);
  if (!mode) throw new Unusable([`--overrides must be one of ${overrideModes.join(', ')}, not ${text}`]);
  return mode;
}

function percent(option: string, text: string): number {
  const value = Number(text.replace(/%$/, ''));
  if (text === '' || !(value >= 0 && value <= 100))
    throw new Unusable([`${option} must be a percentage from 0 to 100, not ${text}`]);
  return value;
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (!/^[0-9]+$/.test(text)) throw new Unusable([`${option} must be a whole number, not ${text}`]);
  return value;
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function duration(text: string): number {
  const [, number = '', unit = ''] = /^([1-9][0-9]{0,4})([mhd])$/.exec(text) ?? [];
  if (unit !== 'm' && unit !== 'h' && unit !== 'd')
    throw new Unusable([`--since must be a duration such as 30m, 12h or 7d, not ${text}`]);
  return Number(number) * unitMs[unit];
}

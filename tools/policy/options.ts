import { parseArgs } from 'node:util';

export const help = `npm run policy -- COMMAND: tests policies before they are published, as a check of a pull request does.

  check FILE                      is the policy well formed? Every fault is named with its line
  test FILE --cases CASES.yaml    does it decide as the cases say, and which rules does no case reach?

  --bundles DIR       bundles that are in force beside FILE: DIR/secops/name.yaml is the bundle secops/name
  --scanners FILE     scanner definitions (default config/output_scanners.yaml)
  --min-coverage N    of test: fails when the cases reach less than N percent of the rules
  --json              one line of JSON on standard output, all else on standard error
  --help              this text

Ends 0 when all is well, 1 when a case fails or a limit is passed, 2 when something cannot be used.
`;

export type Command = 'check' | 'test';

export interface PolicyOptions {
  command: Command;
  file: string;
  cases: string;
  bundles: string | undefined;
  scanners: string;
  minCoverage: number;
  json: boolean;
}

/** What cannot be used, and why: ends with 2. */
export class Unusable extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

const arity: Readonly<Record<Command, number>> = { check: 1, test: 1 };

/** @returns undefined when help is asked for. @throws Unusable saying what is wrong with the command line */
export function readOptions(args: string[]): PolicyOptions | undefined {
  const { values, positionals } = parsed(args);
  if (values.help) return undefined;
  const [word = '', ...files] = positionals;
  const command = (Object.keys(arity) as Command[]).find((known) => known === word);
  if (!command) throw new Unusable([`the command is one of ${Object.keys(arity).join(', ')}, not ${word || 'none'}`]);
  if (files.length !== arity[command])
    throw new Unusable([`${command} takes ${arity[command]} file, and ${files.length} are given`]);
  if (command === 'test' && !values.cases) throw new Unusable(['test needs --cases FILE']);
  return {
    command,
    file: files[0] ?? '',
    cases: values.cases ?? '',
    bundles: values.bundles,
    scanners: values.scanners,
    minCoverage: percent('--min-coverage', values['min-coverage']),
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
        scanners: { type: 'string', default: 'config/output_scanners.yaml' },
        'min-coverage': { type: 'string', default: '0' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new Unusable([error instanceof Error ? error.message : String(error)]);
  }
}

function percent(option: string, text: string): number {
  const value = Number(text.replace(/%$/, ''));
  if (text === '' || !(value >= 0 && value <= 100))
    throw new Unusable([`${option} is a percentage from 0 to 100, not ${text}`]);
  return value;
}

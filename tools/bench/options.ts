import { parseArgs } from 'node:util';
import type { Measure } from './measure';
import { profiled, type Profiled } from './profile/profile-drain';

export const help = `npm run bench -- [options]: measures the raw limits of this machine, then the product, and holds one against the other.
It starts everything itself, takes about ten minutes on two cores, and fails when a job is lost or done twice.

  --only a,b          these results alone; * stands for anything: --only 'drain,rss_*'
  --quick             fewer and smaller runs, to see that everything works; its numbers say little
  --json              print bench.json on standard output, all else on standard error
  --out FILE          where to write it (default bench.json)
  --write-docs        write docs/performance.md as well; not with --only or --quick
  --profile SERVICE   instead of measuring: where the CPU time of api, scheduler or worker goes during a drain
  --profile-out FILE  keep that profile here, for a viewer (default: a temporary file)
  --jobs N            jobs of a drain when profiling (default 10000)
  --concurrency N     jobs the worker runs at once (default 256)
  --help              this text
`;

export interface BenchOptions {
  only: string[] | undefined;
  quick: boolean;
  json: boolean;
  out: string;
  writeDocs: boolean;
  profile: Profiled | undefined;
  profileOut: string | undefined;
  jobs: number;
  concurrency: number;
  help: boolean;
}

/** @throws Error saying which option cannot be used */
export function readOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      out: { type: 'string', default: 'bench.json' },
      'write-docs': { type: 'boolean', default: false },
      profile: { type: 'string' },
      'profile-out': { type: 'string' },
      jobs: { type: 'string', default: '10000' },
      concurrency: { type: 'string', default: '256' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const profile = profiled.find((service) => service === values.profile);
  if (values.profile !== undefined && !profile) throw new Error(`--profile is one of ${profiled.join(', ')}`);
  if (values['write-docs'] && (values.only !== undefined || values.quick)) {
    throw new Error('--write-docs needs every result at full size: leave --only and --quick away');
  }
  return {
    only: values.only?.split(',').map((name) => name.trim()),
    quick: values.quick,
    json: values.json,
    out: values.out,
    writeDocs: values['write-docs'],
    profile,
    profileOut: values['profile-out'],
    jobs: positive('--jobs', values.jobs),
    concurrency: positive('--concurrency', values.concurrency),
    help: values.help,
  };
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${option} is a whole number above zero, not ${text}`);
  return value;
}

/** @throws Error naming what no measure is called */
export function chosen(measures: readonly Measure[], only: readonly string[] | undefined): readonly Measure[] {
  if (!only) return measures;
  const matches = (wanted: string, name: string) =>
    new RegExp(`^${wanted.split('*').map(escapeRegex).join('.*')}$`).test(name);
  const unknown = only.find((wanted) => !measures.some(({ name }) => matches(wanted, name)));
  if (unknown !== undefined) {
    throw new Error(`nothing is called ${unknown}; there are ${measures.map(({ name }) => name).join(', ')}`);
  }
  return measures.filter(({ name }) => only.some((wanted) => matches(wanted, name)));
}

const escapeRegex = (text: string) => text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&');

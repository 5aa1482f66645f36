import { parseArgs } from 'node:util';
import type { Measure } from './measure';
import { profiled, type Profiled, type ProfiledLoad, profiledLoads } from './profile/profile-service';

export const help = `npm run bench -- [options]: measures the raw limits of this machine and the product, and compares them.
It starts all servers and services, takes about fifteen minutes on two cores, and fails when a job is lost or executed twice.

  --only a,b          only these results; * matches any text: --only 'drain,rss_*'
  --quick             fewer and smaller runs, as a smoke test; the numbers are not meaningful
  --json              print bench.json to standard output and all other output to standard error
  --out FILE          output file (default bench.json)
  --write-docs        also write docs/performance.md; not with --only or --quick
  --peers             also run Restate (downloaded from npm on the first use) and print the ratio for one and three steps
  --profile SERVICE   do not measure; profile the CPU time of api, scheduler, engine or worker
  --profile-load L    load of the profile: drain (default), round-trips or runs with 64 clients, or fan-outs over 1,000 items
  --profile-out FILE  output file of the profile (default: a temporary file)
  --jobs N            jobs of the load when profiling (default 10000)
  --concurrency N     concurrency of the worker (default 256)
  --help              print this help
`;

export interface BenchOptions {
  only: string[] | undefined;
  quick: boolean;
  json: boolean;
  out: string;
  writeDocs: boolean;
  peers: boolean;
  profile: Profiled | undefined;
  profileLoad: ProfiledLoad;
  profileOut: string | undefined;
  jobs: number;
  concurrency: number;
  help: boolean;
}

/** @throws Error naming the invalid option */
export function readOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      out: { type: 'string', default: 'bench.json' },
      'write-docs': { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      profile: { type: 'string' },
      'profile-load': { type: 'string', default: 'drain' },
      'profile-out': { type: 'string' },
      jobs: { type: 'string', default: '10000' },
      concurrency: { type: 'string', default: '256' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const profile = profiled.find((service) => service === values.profile);
  if (values.profile !== undefined && !profile) throw new Error(`--profile must be one of ${profiled.join(', ')}`);
  const profileLoad = profiledLoads.find((load) => load === values['profile-load']);
  if (!profileLoad) throw new Error(`--profile-load must be one of ${profiledLoads.join(', ')}`);
  if (values['write-docs'] && (values.only !== undefined || values.quick)) {
    throw new Error('--write-docs needs all results at full size: remove --only and --quick');
  }
  return {
    only: values.only?.split(',').map((name) => name.trim()),
    quick: values.quick,
    json: values.json,
    out: values.out,
    writeDocs: values['write-docs'],
    peers: values.peers,
    profile,
    profileLoad,
    profileOut: values['profile-out'],
    jobs: positive('--jobs', values.jobs),
    concurrency: positive('--concurrency', values.concurrency),
    help: values.help,
  };
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${option} must be a whole number above zero, not ${text}`);
  return value;
}

/** @throws Error naming an unknown measure */
export function chosen(measures: readonly Measure[], only: readonly string[] | undefined): readonly Measure[] {
  if (!only) return measures;
  const matches = (wanted: string, name: string) =>
    new RegExp(`^${wanted.split('*').map(escapeRegex).join('.*')}$`).test(name);
  const unknown = only.find((wanted) => !measures.some(({ name }) => matches(wanted, name)));
  if (unknown !== undefined) {
    throw new Error(`unknown result ${unknown}; available: ${measures.map(({ name }) => name).join(', ')}`);
  }
  return measures.filter(({ name }) => only.some((wanted) => matches(wanted, name)));
}

const escapeRegex = (text: string) => text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&');

import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from '@svc/testing';
import { repositoryRoot } from '../stack/settings';
import { limitNames } from './limits';
import type { Measure } from './measure';
import { measures } from './measures';
import { chosen, help, readOptions, type BenchOptions } from './options';
import { comparePeers, type Peers } from './peers/compare';
import { installRestate } from './peers/install';
import { peersText } from './peers/report';
import { profileService } from './profile/profile-service';
import { machine, rounded, table, toResult, type BenchFile, type Result } from './report';
import { Session } from './session';
import { writeDocs } from './write-docs';

async function run(options: BenchOptions): Promise<void> {
  const say = (text: string) => void process[options.json ? 'stderr' : 'stdout'].write(`${text}\n`);
  if (options.profile) {
    const { profile: service, profileLoad: load, profileOut, jobs, concurrency: workerConcurrency } = options;
    say(await profileService({ service, load, jobs, workerConcurrency, say, ...(profileOut && { file: profileOut }) }));
    return;
  }
  const wanted = chosen(measures, options.only);
  const bench = await measure(wanted, options, say);
  const text = `${JSON.stringify(bench, null, 2)}\n`;
  writeFileSync(options.out, text);
  if (options.writeDocs) {
    writeDocs(join(repositoryRoot, 'docs/performance.md'), bench, new Date().toISOString().slice(0, 10));
  }
  say(
    `\n${Object.entries(bench.limits)
      .map(([name, value]) => `${name.padEnd(24)} ${value}/s`)
      .join('\n')}`,
  );
  say(`\n${table(measures, bench)}\n`);
  if (bench.peers) say(`${peersText(bench.peers)}\n`);
  if (options.json) process.stdout.write(text);
}

async function measure(
  wanted: readonly Measure[],
  { quick, concurrency, only, peers: withPeers }: BenchOptions,
  say: (text: string) => void,
): Promise<BenchFile> {
  const load = rounded(loadavg()[0] ?? 0);
  const session = new Session({ quick, workerConcurrency: concurrency, say });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void session.close().finally(() => process.exit(130)));
  }
  const limits: Record<string, number> = {};
  const results: Result[] = [];
  let peers: Peers | undefined;
  try {
    // First, so that a failed download does not cost the results.
    if (withPeers) await installRestate(say);
    const needed = only ? limitNames.filter((name) => wanted.some(({ limit }) => limit?.name === name)) : limitNames;
    for (const name of needed) {
      limits[name] = rounded(await session.limit(name));
      say(`${name}: ${limits[name]}/s`);
    }
    for (const measure of wanted) {
      const value = await measure.run(session);
      const result = toResult(measure, value, measure.limit && (await measure.limit.value(session)));
      results.push(result);
      say(`${result.name}: ${result.value} ${result.unit}`);
    }
    // Last, since it stops the product.
    if (withPeers) peers = await comparePeers(session);
  } finally {
    await session.close();
  }
  const versions = { redis: version('redis-server'), nats: version('nats-server'), commit: commit() };
  return { machine: machine(versions, load), limits, results, ...(peers && { peers }) };
}

const version = (program: string) =>
  execFileSync(requireProgram(program), ['--version']).toString().trim().split(' sha=')[0] ?? '';

function commit(): string {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: repositoryRoot, encoding: 'utf8' });
  return (stdout ?? '').trim();
}

async function start(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (!options.help) return run(options);
  process.stdout.write(help);
}

start().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);

import { printProblem, type Parsed } from '@svc/contract';
import { defaultTimeouts, parsePools, parseTimeouts, type PoolTable, type TimeoutTable } from '@svc/routing';
import { StartError } from '@svc/runtime';
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '@svc/platform';

export interface FleetFiles extends Fleet {
  /** Reads the files again if they changed. An invalid new file never replaces a valid one in use. */
  refresh(): Promise<void>;
  /** SHA-256 (hex) of the files in effect; absent when there is no such file. */
  hashes(): { pools?: string; timeouts?: string };
}

export interface FleetFileSettings {
  poolsPath: string;
  timeoutsPath: string;
  production: boolean;
}

export interface FleetFileHooks {
  /** A file could not be used; the previous one stays in effect. */
  onProblem(problem: string): void;
  onChange(what: 'pools' | 'timeouts'): void;
}

function refuse(what: string, path: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new StartError(`the ${what} cannot be used`, path, problems.join('\n  '));
}

const settleMs = 100;

interface Watched<T> {
  path: string;
  parse(text: string): Parsed<T>;
  value: T;
  mtimeMs: number;
  hash?: string;
}

/**
 * The pools and timeouts files, reloaded on change. Without a pools file every topic is accepted and has no pool.
 *
 * @throws StartError with every problem and its line when a file is invalid at start
 */
export async function openFleetFiles(settings: FleetFileSettings, hooks: FleetFileHooks): Promise<FleetFiles> {
  const { poolsPath, timeoutsPath, production } = settings;
  const pools: Watched<PoolTable> = {
    path: poolsPath,
    parse: (text) => parsePools(text, poolsPath, production),
    value: { topics: {}, pools: {} },
    mtimeMs: 0,
  };
  const timeouts: Watched<TimeoutTable> = {
    path: timeoutsPath,
    parse: (text) => parseTimeouts(text, timeoutsPath),
    value: defaultTimeouts,
    mtimeMs: 0,
  };
  refuse('pools file', poolsPath, (await load(pools)).problems);
  if (pools.mtimeMs === 0) hooks.onProblem(`${poolsPath} does not exist: every topic is accepted and has no pool`);
  const bad = (await load(timeouts)).problems;
  if (production) refuse('timeouts file', timeoutsPath, bad);
  // An invalid timeouts file leaves the defaults in development.
  else if (bad.length > 0) hooks.onProblem(`the default timeouts are in effect: ${bad.join('; ')}`);
  const listHashes = () => ({
    ...(pools.hash && { pools: pools.hash }),
    ...(timeouts.hash && { timeouts: timeouts.hash }),
  });
  // Called for every job.
  let hashes = listHashes();
  const refresh = async (file: Watched<PoolTable> | Watched<TimeoutTable>, what: 'pools' | 'timeouts') => {
    const outcome = file === pools ? await load(pools) : await load(timeouts);
    hashes = listHashes();
    if (outcome.problems.length > 0) hooks.onProblem(outcome.problems.join('\n'));
    else if (outcome.changed) hooks.onChange(what);
  };
  return {
    pools: () => pools.value,
    timeouts: () => timeouts.value,
    hashes: () => hashes,
    refresh: async () => {
      await refresh(pools, 'pools');
      await refresh(timeouts, 'timeouts');
    },
  };
}

async function load<T>(file: Watched<T>): Promise<{ changed: boolean; problems: string[] }> {
  const found = await stat(file.path).catch(() => undefined);
  if (!found || found.mtimeMs === file.mtimeMs) return { changed: false, problems: [] };
  if (file.mtimeMs !== 0 && (await isStillWritten(file.path, found))) return { changed: false, problems: [] };
  // Recorded for an invalid file as well, so that it is reported once and not at every check.
  file.mtimeMs = found.mtimeMs;
  const text = await readFile(file.path, 'utf8');
  const parsed = file.parse(text);
  if (!parsed.ok) return { changed: false, problems: parsed.problems.map(printProblem) };
  file.value = parsed.value;
  file.hash = createHash('sha256').update(text).digest('hex');
  return { changed: true, problems: [] };
}

/** A partial file may be valid and lack some pools. The next check finds it complete. */
async function isStillWritten(path: string, { mtimeMs, size }: Stats): Promise<boolean> {
  await pause(settleMs);
  const now = await stat(path).catch(() => undefined);
  return now?.mtimeMs !== mtimeMs || now.size !== size;
}

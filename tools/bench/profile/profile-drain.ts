import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '../../stack/settings';
import { runDrain } from '../drain';
import { Product } from '../product';
import { summarize, type CpuProfile, type ProfileSummary, type Share } from './cpu-profile';
import { locator } from './locate';

export const profiled = ['api', 'scheduler', 'worker'] as const;
export type Profiled = (typeof profiled)[number];

export interface ProfileOptions {
  service: Profiled;
  jobs: number;
  workerConcurrency: number;
  say(text: string): void;
  /** Output file of the profile; default: a temporary folder. */
  file?: string;
}

const warmUpJobs = 2_000;

/** Profiles one process during a drain (the gateway: during the submissions before it) and summarizes its CPU time. */
export async function profileDrain({ service, jobs, workerConcurrency, say, file }: ProfileOptions): Promise<string> {
  const profileFile = file ?? join(tmpdir(), `${service}-${process.pid}.cpuprofile`);
  rmSync(profileFile, { force: true });
  const product = await Product.start({
    say,
    workerConcurrency,
    env: {
      NODE_OPTIONS: `--require "${join(repositoryRoot, 'tools/bench/profile/profiled.cjs')}"`,
      BENCH_PROFILE: service,
      BENCH_PROFILE_FILE: profileFile,
    },
  });
  try {
    await runDrain(product, Math.min(jobs, warmUpJobs));
    say(`profiling ${service} over ${jobs} jobs`);
    const toggle = async () => product.signal(service, 'SIGUSR2');
    if (service === 'api') await toggle();
    const drain = await runDrain(
      product,
      jobs,
      service === 'api' ? { beforeDrain: toggle } : { beforeDrain: toggle, afterDrain: toggle },
    );
    while (!existsSync(profileFile)) await sleep(20);
    const profile = JSON.parse(readFileSync(profileFile, 'utf8')) as CpuProfile;
    const head = `${service}: ${drain.submitRate.toFixed(0)} jobs/s in, ${drain.drainRate.toFixed(0)} jobs/s drained while profiled; the profile is ${profileFile}`;
    return `${head}\n\n${profileText(summarize(profile, locator(repositoryRoot)), jobs)}`;
  } finally {
    await product.stop();
  }
}

/** Formats the summary; times are per job, since they add up to a rate. */
function profileText(summary: ProfileSummary, jobs: number): string {
  const { totalMs, idleMs, byCaller, byPackage, functions } = summary;
  const busyMs = totalMs - idleMs;
  const row = ({ name, selfMs }: Share) =>
    `  ${((100 * selfMs) / busyMs).toFixed(1).padStart(5)} %  ${((1_000 * selfMs) / jobs).toFixed(1).padStart(7)} µs/job  ${name}`;
  const section = (title: string, shares: readonly Share[], count: number) =>
    `${title}\n${shares.slice(0, count).map(row).join('\n')}\n`;
  return [
    `busy ${busyMs.toFixed(0)} ms of ${totalMs.toFixed(0)} ms, ${((1_000 * busyMs) / jobs).toFixed(0)} µs per job\n`,
    section('Self time by package, including Node and the engine', byCaller, 25),
    section('Self time by package, Node and the engine separately', byPackage, 25),
    section('Self time by function', functions, 45),
  ].join('\n');
}

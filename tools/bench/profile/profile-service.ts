import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '../../stack/settings';
import { runDrain } from '../drain';
import { Product } from '../product';
import { roundTrips } from '../round-trips';
import { fanOutTrip, postWorkflows, runTrips } from '../runs';
import { summarize, type CpuProfile, type ProfileSummary, type Share } from './cpu-profile';
import { locator } from './locate';

export const profiled = ['api', 'scheduler', 'engine', 'worker'] as const;
export type Profiled = (typeof profiled)[number];
export const profiledLoads = ['drain', 'round-trips', 'runs', 'fan-outs'] as const;
export type ProfiledLoad = (typeof profiledLoads)[number];

export interface ProfileOptions {
  service: Profiled;
  load: ProfiledLoad;
  jobs: number;
  workerConcurrency: number;
  say(text: string): void;
  /** Output file of the profile; default: a temporary folder. */
  file?: string;
}

const warmUpJobs = 2_000;
const clients = 64;
const stepsPerRun = 3;
const itemsPerRun = 1_000;

/** Profiles one process under load and summarizes its CPU time. */
export async function profileService({
  service,
  load,
  jobs,
  workerConcurrency,
  say,
  file,
}: ProfileOptions): Promise<string> {
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
    const toggle = async () => product.signal(service, 'SIGUSR2');
    const run = loads[load];
    if (load === 'runs' || load === 'fan-outs') await postWorkflows(product);
    await run(product, Math.min(jobs, warmUpJobs), service);
    say(`profiling ${service} over ${jobs} jobs`);
    const rates = await run(product, jobs, service, toggle);
    while (!existsSync(profileFile)) await sleep(20);
    const profile = JSON.parse(readFileSync(profileFile, 'utf8')) as CpuProfile;
    const head = `${service}: ${rates} while profiled; the profile is ${profileFile}`;
    return `${head}\n\n${profileText(summarize(profile, locator(repositoryRoot)), jobs)}`;
  } finally {
    await product.stop();
  }
}

/** Applies a load, with the profile switched on and off by `toggle`. Returns its rates. */
type Load = (product: Product, jobs: number, service: Profiled, toggle?: () => Promise<void>) => Promise<string>;

const loads: Record<ProfiledLoad, Load> = {
  // The gateway is busy during the submissions before the drain.
  async drain(product, jobs, service, toggle = async () => undefined) {
    const isGateway = service === 'api';
    if (isGateway) await toggle();
    const drain = await runDrain(product, jobs, { beforeDrain: toggle, ...(!isGateway && { afterDrain: toggle }) });
    return `${drain.submitRate.toFixed(0)} jobs/s in, ${drain.drainRate.toFixed(0)} jobs/s drained`;
  },
  async 'round-trips'(product, jobs, _, toggle = async () => undefined) {
    await toggle();
    const { rate } = await roundTrips(product, clients, jobs);
    await toggle();
    return `${rate.toFixed(0)} round trips/s`;
  },
  async runs(product, jobs, _, toggle = async () => undefined) {
    await toggle();
    const { rate } = await runTrips(product, 'three', clients, Math.ceil(jobs / stepsPerRun));
    await toggle();
    return `${(rate * stepsPerRun).toFixed(0)} steps/s`;
  },
  async 'fan-outs'(product, jobs, _, toggle = async () => undefined) {
    await toggle();
    const startedMs = performance.now();
    for (let i = 0; i < jobs / itemsPerRun; i++) await fanOutTrip(product, itemsPerRun);
    const rate = (jobs / (performance.now() - startedMs)) * 1_000;
    await toggle();
    return `${rate.toFixed(0)} items/s`;
  },
};

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

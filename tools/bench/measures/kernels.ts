import { openLocalKernel, type Kernel } from '@svc/kernel-client';
import { queues } from '@svc/queues.config';
import { silentLogger, systemClock } from '@svc/runtime';
import { openStore, type Store } from '@svc/store';
import { startRedis } from '@svc/testing';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureRate } from '../limits/servers';
import type { Session } from '../session';
import { percentile } from '../statistics';

interface Kernels {
  kernels: Kernel[];
  store: Store;
}

/** Kernels as in services, each with its own connection, on one Redis. */
async function withKernels<T>(count: number, policy: string, run: (parts: Kernels) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-kernels-'));
  const server = await startRedis();
  const connections = Array.from({ length: count }, () => new Redis(server.url));
  const policyPath = join(dir, 'safety.yaml');
  writeFileSync(policyPath, policy);
  const kernels: Kernel[] = [];
  try {
    for (const redis of connections)
      kernels.push(await openLocalKernel(settings(policyPath), { redis, log: silentLogger, clock: systemClock() }));
    const [redis = new Redis(server.url)] = connections;
    return await run({ kernels, store: openStore(redis, queues, { metaSec: 60, dataSec: 60 }) });
  } finally {
    for (const kernel of kernels) await kernel.close();
    for (const redis of connections) redis.disconnect();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

const settings = (policyPath: string) => ({
  policyPath,
  scannersPath: 'config/output_scanners.yaml',
  policyMaxBytes: 2_097_152,
  reloadIntervalMs: 30_000,
  signature: { required: false },
  bundles: { disabled: false, scope: 'system', id: 'policy', key: 'bundles', strict: 'off' as const, publicKeys: {} },
  velocityFailMode: 'closed' as const,
  decisionCache: { ttlMs: 0, maxSize: 1 },
});

const base = "version: '1'\ndefault_decision: allow\n";
const paced = `${base}rules:
  - id: pace
    match: {topics: [job.refund]}
    velocity: {max_requests: 1000000, window_seconds: 60, key: "tenant:labels.customer"}
    decision: throttle
    throttle_duration: 1s
`;

/** Decisions per second that each count a window of a velocity rule, 500 in flight. */
export const velocityRate = (session: Session): Promise<number> =>
  withKernels(1, paced, async ({ kernels: [kernel] }) => {
    const check = async (i: number) =>
      kernel?.check({
        topic: 'job.refund',
        tenant: 'default',
        job_id: `job-${i}`,
        labels: { customer: `c${i % 100}` },
      });
    await measureRate(2_000, 500, check);
    return measureRate(session.sizes.decisions, 500, (i) => check(i + 2_000));
  });

const publications = 20;

/** From the write of a bundle until the last of three kernels applies it, the maximum of 20, ms. */
export const publishVisible = (): Promise<number> =>
  withKernels(3, base, async ({ kernels, store }) => {
    const ms: number[] = [];
    for (let revision = 1; revision <= publications; revision++) {
      const content = `version: '1'\nrules:\n  - {id: rule-${revision}, match: {topics: [job.berth]}, decision: deny}\n`;
      const data = { bundles: { 'secops/berths': { content, enabled: true } } };
      const document = { scope: 'system', scope_id: 'policy', data, revision, updated_at: '', meta: {} };
      const startedMs = performance.now();
      await store.config.replace(document, revision - 1);
      await Promise.all(kernels.map((kernel) => untilDecidedBy(kernel, `rule-${revision}`)));
      ms.push(performance.now() - startedMs);
      // Varies the phase of the kernels' polling relative to the write.
      await sleep(37);
    }
    return percentile(ms, 1);
  });

async function untilDecidedBy(kernel: Kernel, rule: string): Promise<void> {
  while ((await kernel.simulate({ topic: 'job.berth', tenant: 'default', job_id: 'j' })).rule_id !== rule)
    await sleep(2);
}

import { openRemoteKernel } from '@svc/kernel-client';
import type { PolicyRequest } from '@svc/policy';
import { silentLogger, systemClock } from '@svc/runtime';
import { freePort } from '@svc/testing';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../../stack';
import { kernelService } from '../../stack/settings';
import { measureRate } from '../limits/servers';
import type { Session } from '../session';
import { percentile } from '../statistics';
import { benchTopic, submissionBody } from '../submission';

/** A decision by a kernel in a separate process, requested as by gateway and scheduler, 64 in flight: p99, ms. */
export async function policyGrpc(session: Session): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-kernel-'));
  const port = await freePort();
  const stack = await startStack({
    dataDir,
    tls: false,
    services: [kernelService],
    env: {
      ...process.env,
      REDIS_URL: '',
      NATS_URL: '',
      SVC_LOG_LEVEL: 'warn',
      SAFETY_KERNEL_ADDR: `127.0.0.1:${port}`,
    },
    onProgress: session.say,
  });
  const redis = new Redis(stack.info.redis_url);
  const kernel = await openRemoteKernel(
    { address: { host: '127.0.0.1', port }, tls: undefined, keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 10_000 },
    { redis, log: silentLogger, clock: systemClock() },
  );
  const ask = (i: number) => kernel.evaluate(requestFor(i));
  const ms: number[] = [];
  try {
    await measureRate(Math.ceil(session.sizes.calls / 10), 64, ask);
    await measureRate(session.sizes.calls, 64, async (i) => {
      const startedMs = performance.now();
      const { decision } = await ask(i);
      ms.push(performance.now() - startedMs);
      if (decision !== 'ALLOW') throw new Error(`the kernel decided ${decision}`);
    });
    return percentile(ms, 0.99);
  } finally {
    await kernel.close();
    redis.disconnect();
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** All requests differ, since decisions may be cached. */
const requestFor = (i: number): PolicyRequest => ({
  topic: benchTopic,
  tenant: 'default',
  job_id: `job-${i}`,
  principal_id: 'pilot',
  priority: 'interactive',
  labels: { team: 'harbour' },
  input_content: JSON.stringify({ ...submissionBody(), ship: i }),
  input_content_type: 'application/json',
});

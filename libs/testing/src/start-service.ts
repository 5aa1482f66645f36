import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from './free-port';
import { endChild, isRunning, spawnLeashed } from './leash';
import type { Servers } from './use-servers';

const root = join(__dirname, '../../..');
const config = (file: string) => join(root, 'config', file);

/** A service as operators run it: a process with its output, its metrics and its probes. */
export interface RunningService {
  readonly url: string;
  /** All that was written to standard output and standard error. */
  output(): string;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a service from its source on servers of the test, with logs of all it can tell; resolves when it is ready. */
export async function startService(
  app: 'api' | 'scheduler' | 'engine',
  servers: Servers,
  more: Record<string, string> = {},
): Promise<RunningService> {
  const [http, grpc, metrics] = [await freePort(), await freePort(), await freePort()];
  const env = {
    ...process.env,
    REDIS_URL: servers.redisUrl,
    NATS_URL: servers.natsUrl,
    GATEWAY_HTTP_ADDR: `127.0.0.1:${http}`,
    GATEWAY_GRPC_ADDR: `127.0.0.1:${grpc}`,
    GATEWAY_METRICS_ADDR: `127.0.0.1:${metrics}`,
    SCHEDULER_METRICS_ADDR: `127.0.0.1:${metrics}`,
    WORKFLOW_ENGINE_HTTP_ADDR: `127.0.0.1:${metrics}`,
    SAFETY_POLICY_PATH: config('safety.yaml'),
    OUTPUT_SCANNERS_PATH: config('output_scanners.yaml'),
    OUTPUT_POLICY_ENABLED: 'true',
    POOL_CONFIG_PATH: config('pools.yaml'),
    TIMEOUT_CONFIG_PATH: config('timeouts.yaml'),
    TENANT_ID: 'acme',
    SVC_LOG_LEVEL: 'debug',
    API_RATE_LIMIT_RPS: '100000',
    API_RATE_LIMIT_BURST: '100000',
    ...more,
  };
  const child = spawnLeashed(process.execPath, [join(root, 'tools/run-ts.mjs'), `apps/${app}/src/main.ts`], { cwd: root, env, output: 'pipe' }); // prettier-ignore
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += data.toString()));
  const probes = `http://127.0.0.1:${metrics}`;
  try {
    await eventually(
      async () => {
        // One that has ended will not get ready.
        if (!isRunning(child)) return;
        const { status } = await fetch(`${probes}/readyz`);
        if (status !== 200) throw new Error(`not ready: ${status}`);
      },
      { withinMs: 30_000, everyMs: 50 },
    );
    if (!isRunning(child)) throw new Error('it has ended');
  } catch (error) {
    await endChild(child);
    throw new Error(`${app} did not start: ${output}`, { cause: error });
  }
  return {
    url: `http://127.0.0.1:${http}`,
    output: () => output,
    metrics: async () => (await fetch(`${probes}/metrics`)).text(),
    stop: () => endChild(child),
  };
}

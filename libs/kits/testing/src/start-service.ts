import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from './free-port';
import { endChild, isRunning, spawnLeashed } from './leash';
import type { Servers } from './use-servers';

const root = join(__dirname, '../../../..');
const config = (file: string) => join(root, 'config', file);

/** A service that runs in its own process. */
export interface RunningService {
  readonly url: string;
  /** Address of its probes and metrics. */
  readonly probes: string;
  /** Standard output and standard error so far. */
  output(): string;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** A started service that may not be ready yet. */
export interface LaunchedService extends RunningService {
  /** The exit code, once the process has ended and its output has been read. */
  readonly exitCode: number | null;
  /** @throws Error with its output if it exits before it is ready, or is not ready within 30 s */
  untilReady(): Promise<void>;
}

export type ServiceName = 'api' | 'scheduler' | 'engine' | 'kernel';

/** Starts a service from source on the servers of the test, at log level debug; resolves when it is ready. */
export async function startService(
  app: ServiceName,
  servers: Pick<Servers, 'redisUrl' | 'natsUrl'>,
  more: Record<string, string> = {},
): Promise<RunningService> {
  const launched = await launchService(app, servers, more);
  try {
    await launched.untilReady();
  } catch (error) {
    await launched.stop();
    throw error;
  }
  return launched;
}

/** Starts a service like `startService` without waiting until it is ready. */
export async function launchService(
  app: ServiceName,
  servers: Pick<Servers, 'redisUrl' | 'natsUrl'>,
  more: Record<string, string> = {},
): Promise<LaunchedService> {
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
    // Only the kernel listens here; for the others the variable is the address of a kernel to call.
    ...(app === 'kernel' && {
      SAFETY_KERNEL_ADDR: `127.0.0.1:${grpc}`,
      SAFETY_KERNEL_ADMIN_ADDR: `127.0.0.1:${metrics}`,
    }),
    ...more,
  };
  const child = spawnLeashed(process.execPath, [join(root, 'tools/run-ts.mjs'), `apps/${app}/src/main.ts`], { cwd: root, env, output: 'pipe' }); // prettier-ignore
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += data.toString()));
  let exitCode: number | null = null;
  const closed = once(child, 'close').then(() => (exitCode = child.exitCode));
  const probes = `http://127.0.0.1:${metrics}`;
  return {
    url: `http://127.0.0.1:${http}`,
    probes,
    get exitCode() {
      return exitCode;
    },
    output: () => output,
    metrics: async () => (await fetch(`${probes}/metrics`)).text(),
    async stop() {
      await endChild(child);
      await closed;
    },
    async untilReady() {
      try {
        await eventually(
          async () => {
            // A process that has exited does not become ready: stop waiting.
            if (!isRunning(child)) return;
            const { status } = await fetch(`${probes}/readyz`);
            if (status !== 200) throw new Error(`not ready: ${status}`);
          },
          { withinMs: 30_000, everyMs: 50 },
        );
        if (!isRunning(child)) {
          await closed;
          throw new Error('the process exited');
        }
      } catch (error) {
        throw new Error(`${app} did not start: ${output}`, { cause: error });
      }
    },
  };
}

import { busOptions, openBus, type Bus, type BusDeps } from '@svc/bus';
import { WireErrorCode } from '@svc/contract';
import { openLicense, type License } from '@svc/identity';
import type { PacketSigner } from '@svc/jetstream';
import type { AnyQueueSpec } from '@svc/queues';
import { startProbeServer, type Address, type Boot, type commonVariables, type EnvOf } from '@svc/runtime';
import { openRedis, openStore, requireWritable, type InstanceRecord, type Store, type StoreFinding } from '@svc/store';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { followLicense, logLicense } from './follow-license';
import { guardStore, type StoreMetrics } from './guard-store';
import { whenAvailable } from './when-available';

type CommonEnv = EnvOf<typeof commonVariables>;

/** Store, bus and license, which every service needs. */
export interface Platform {
  store: Store;
  bus: Bus;
  license: License;
  /** Current findings about the store. */
  storeFindings(): readonly StoreFinding[];
  /** Sender id of this process's packets. */
  senderId: string;
  /** This process as the status shows it. */
  instance: InstanceRecord;
}

export interface PlatformOptions {
  service: string;
  queues: Readonly<Record<string, AnyQueueSpec>>;
  probes: { addr: Address; open: boolean };
  metrics: { contentType: string; text(): Promise<string>; metrics: StoreMetrics };
  /** Called with the name of the error code under which a packet is rejected. */
  onMalformed?(reason: string): void;
  /** Signs the packets of this process. */
  signer?: PacketSigner | undefined;
  onDisconnected?(): void;
  onReconnected?(): void;
}

const instanceEveryMs = 5_000;

/**
 * Opens probes, store, bus and license. The probes open first, so the service reports "not ready" while it waits for the rest.
 * Each part registers a stop step; stop steps run in reverse order.
 *
 * @throws DependencyUnavailable when store or bus do not respond within `SVC_START_WAIT`
 */
export async function openPlatform(boot: Boot<CommonEnv>, options: PlatformOptions): Promise<Platform> {
  const { env, health, log, clock, build, onStop } = boot;
  const probes = await startProbeServer({
    addr: options.probes.addr,
    health,
    metrics: options.metrics,
    loopbackInProduction: { production: env.production, open: options.probes.open },
    onError: (error) => log.error('probe failed', { error }),
  });
  onStop('probes', () => probes.close());

  const store = await openTheStore(boot, options);
  const senderId = `${options.service}-${env.instanceId}`.replace(/[^A-Za-z0-9_-]/g, '-');
  const bus = await openTheBus(boot, options, senderId);
  const storeFindings = await guardStore(boot, { store, bus, metrics: options.metrics.metrics });
  const license = openServiceLicense(boot);
  followLicense(boot, store.redis, license);
  const instance = {
    id: env.instanceId,
    service: options.service,
    version: build.version,
    commit: build.commit,
    started_at: new Date(clock.nowMs()).toISOString(),
  };
  renewInstance(boot, store, instance);
  return { store, bus, license, storeFindings, senderId, instance };
}

async function openTheStore(
  { env, health, log, onStop }: Boot<CommonEnv>,
  { queues }: PlatformOptions,
): Promise<Store> {
  const redis = await openRedis(env, 'request');
  redis.on('error', (error) => log.oncePer('redis', 10_000).warn('store connection failed', { error }));
  onStop('store', () => redis.quit());
  health.dependsOn('redis', () => requireWritable(redis, env.redisMinReplicas));
  return openStore(redis, queues, {
    metaSec: Math.ceil(env.jobMetaTtlMs / 1_000),
    dataSec: Math.ceil(env.dataTtlMs / 1_000),
  });
}

async function openTheBus(boot: Boot<CommonEnv>, options: PlatformOptions, senderId: string): Promise<Bus> {
  const { env, health, log, clock, onStop } = boot;
  const deps: BusDeps = {
    nowUs: () => clock.nowUs(),
    onMalformed: ({ subject, reason, code }) => {
      // The label is the error code: the reason contains sender input, whose values are unbounded.
      options.onMalformed?.(WireErrorCode[code]);
      log.oncePer(`malformed:${subject}`, 60_000).warn('packet rejected', { subject, reason });
    },
    onConnection: (event) => {
      log.warn(`bus ${event}`);
      if (event === 'reconnected') options.onReconnected?.();
      else if (event === 'disconnected') options.onDisconnected?.();
    },
    onError: (error, where) => log.oncePer(`bus:${where}`, 10_000).warn('bus failed', { error, subject: where }),
  };
  const bus = await whenAvailable(boot, 'bus', () =>
    openBus({ ...busOptions(env, senderId), signer: options.signer }, deps),
  );
  onStop('bus', () => bus.drain());
  await whenAvailable(boot, 'bus', () => bus.ensureStreams());
  health.dependsOn('nats', async () => {
    if (!bus.status().isConnected) throw new Error('disconnected');
    // The connection to a hung server stays open, so only a round trip detects it.
    await bus.flush();
  });
  return bus;
}

/** Opens the license of SVC_LICENSE_*. Without a valid one the service runs as Community; the problem is logged. */
export function openServiceLicense({ env, clock, log }: Pick<Boot<CommonEnv>, 'env' | 'clock' | 'log'>): License {
  const license = openLicense(licenseSettings(env), { nowMs: () => clock.nowMs() });
  logLicense(log, license);
  return license;
}

const licenseSettings = (env: CommonEnv) => ({
  file: env.licenseFile ?? '',
  token: env.licenseToken ?? '',
  publicKey: env.licensePublicKey ?? '',
  publicKeyPath: env.licensePublicKeyPath ?? '',
  standardPaths: [join(homedir(), '.svc', 'license.json'), '/etc/svc/license.json'],
});

function renewInstance({ log, onStop }: Boot<CommonEnv>, store: Store, instance: InstanceRecord): void {
  const renew = () =>
    store.workers.keepInstance(instance).catch((error: unknown) => log.debug('instance heartbeat failed', { error }));
  void renew();
  const timer = setInterval(() => void renew(), instanceEveryMs);
  onStop('instance', async () => {
    clearInterval(timer);
    await store.workers.dropInstance(instance.service, instance.id);
  });
}

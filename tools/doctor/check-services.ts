import { busOptions, openBus } from '@svc/bus';
import { isRecord } from '@svc/json';
import { createOutboundClient } from '@svc/outbound';
import { openServiceLicense } from '@svc/platform';
import { queues } from '@svc/queues.config';
import { silentLogger, type ApiEnv, type Clock, withTimeout } from '@svc/runtime';
import { checkRedis, openRedis, openStore, readRedisFacts, type Store } from '@svc/store';
import { error, type Finding, info, warning } from './finding';

const ANSWER_MS = 5_000;
const MAX_SKEW_MS = 2_000;
const SNAPSHOT_FRESH_MS = 60_000;

const inTime = <T>(work: Promise<T>): Promise<T> =>
  withTimeout(work, ANSWER_MS, () => new Error('no answer within 5 s'));

/** A connection to a host with several addresses fails without a message, but with a code. */
const reason = (cause: unknown): string =>
  [isRecord(cause) && cause['message'], isRecord(cause) && cause['code']].find(Boolean)?.toString() ?? 'unknown';

/** Redis: reachable, durable, with the same time; and what it holds about workers. */
export async function checkStore(env: ApiEnv, nowMs: () => number): Promise<Finding[]> {
  const redis = await openRedis(env, 'request');
  // Why there is no connection: the command only reports that it was retried.
  let connectionError: Error | undefined;
  redis.on('error', (problem: Error) => (connectionError = problem));
  try {
    const facts = await inTime(readRedisFacts(redis));
    const requirements = { minReplicas: env.redisMinReplicas, memoryLimitBytes: env.redisMemoryLimitBytes };
    const findings = checkRedis(facts, requirements).map(({ code, severity, what, fix }) =>
      (severity === 'refuse' && env.production ? error : warning)(`store_${code}`, what, fix),
    );
    const [seconds, micros] = await inTime(redis.time());
    const skewMs = Math.abs(nowMs() - Number(seconds) * 1_000 - Number(micros) / 1_000);
    const skew = error(
      'clock_skew',
      `the clock of Redis differs by ${Math.round(skewMs)} ms`,
      'Synchronize both clocks (NTP).',
    );
    const store = openStore(redis, queues, { metaSec: 1, dataSec: 1 });
    return [
      info('store', `Redis ${facts.version ?? ''} at ${new URL(env.redisUrl).host}`),
      ...findings,
      ...(skewMs > MAX_SKEW_MS ? [skew] : []),
      ...(await inTime(checkWorkers(store, nowMs()))),
    ];
  } catch (cause) {
    const what = `Redis at ${new URL(env.redisUrl).host} cannot be used: ${reason(connectionError ?? cause)}`;
    return [
      error('store_unreachable', what, 'Start Redis (npm start runs one), or correct REDIS_URL and its credentials.'),
    ];
  } finally {
    redis.disconnect();
  }
}

/** Topics of the stored pools without a live worker, and whether schedulers run at all. */
export async function checkWorkers(
  { config, workers }: Pick<Store, 'config' | 'workers'>,
  nowMs: number,
): Promise<Finding[]> {
  const [[document], snapshot] = await Promise.all([config.documents([['system', 'default']]), workers.snapshot()]);
  if (!snapshot || nowMs - Date.parse(snapshot.captured_at) > SNAPSHOT_FRESH_MS) {
    return [
      error(
        'no_scheduler',
        'no scheduler has reported workers within a minute',
        'Start a scheduler, or check its log.',
      ),
    ];
  }
  const pools = document?.data['pools'];
  const topics = isRecord(pools) && isRecord(pools['topics']) ? pools['topics'] : {};
  const live = new Set(snapshot.workers.filter(({ draining }) => !draining).map(({ pool }) => pool));
  return Object.entries(topics).flatMap(([topic, named]) => {
    const names = (Array.isArray(named) ? named : [named]).map(String);
    if (names.some((name) => live.has(name))) return [];
    return [
      warning(
        'no_workers',
        `no worker serves ${topic}`,
        `Start a worker of pool ${names.join(' or ')}; see "Write a worker" in README.md.`,
      ),
    ];
  });
}

/** NATS: reachable with these credentials. */
export async function checkBus(env: ApiEnv, nowUs: () => number): Promise<Finding[]> {
  const host = new URL(env.natsUrl).host;
  try {
    const bus = await inTime(openBus(busOptions(env, 'doctor'), { nowUs }));
    await inTime(bus.flush()).finally(() => bus.drain());
    return [info('bus', `NATS at ${host}`)];
  } catch (cause) {
    const fix = 'Start NATS with JetStream (npm start runs one), or correct NATS_URL, its credentials and NATS_TLS_*.';
    return [error('bus_unreachable', `NATS at ${host} cannot be used: ${reason(cause)}`, fix)];
  }
}

/** The gateway: ready, at the address of its environment. @param ca authorities of its certificate, PEM; undefined = those of Node */
export async function checkGateway(env: ApiEnv, ca?: string): Promise<Finding[]> {
  const { host, port } = env.httpAddr;
  const name = host === '' || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const url = `${env.httpTlsCert ? 'https' : 'http'}://${name}:${port}/readyz`;
  try {
    const settings = { allow: [name], timeoutMs: ANSWER_MS, ...(ca && { tls: { ca } }) };
    const { status, text } = await createOutboundClient(settings).request(url);
    if (status === 200) return [info('gateway', `ready at ${url}`)];
    return [
      error(
        'gateway_not_ready',
        `${url} answers ${status}: ${text().slice(0, 200)}`,
        'Correct the checks that fail in the answer; the log of the gateway has more.',
      ),
    ];
  } catch (cause) {
    const fix = 'Start the gateway (npm start), or run the doctor with its environment.';
    return [error('gateway_unreachable', `${url}: ${reason(cause)}`, fix)];
  }
}

/** The license that the services use. */
export function checkLicense(env: ApiEnv, clock: Clock): Finding[] {
  const license = openServiceLicense({ env, clock, log: silentLogger });
  const { status, plan, problem, payload } = license.state();
  const what = `${plan}, ${status}`;
  if (status === 'active') return [info('license', what)];
  const ends = payload?.expiresAtMs === undefined ? '' : `, expires ${new Date(payload.expiresAtMs).toISOString()}`;
  const fix = 'Install a valid license and POST /api/v1/license/reload.';
  return [(status === 'warning' ? warning : error)('license', `${what}${ends}${problem ? `: ${problem}` : ''}`, fix)];
}

import { systemClock } from '@svc/runtime';
import { checkCertificates, checkSettings, readEnvironment } from './check-environment';
import { checkBus, checkGateway, checkLicense, checkStore } from './check-services';
import type { Finding } from './finding';

/** All findings about an environment of the gateway. Changes nothing. */
export async function diagnose(source: NodeJS.ProcessEnv, clock = systemClock()): Promise<Finding[]> {
  const { env, findings } = readEnvironment(source);
  // Without a valid environment the services do not start, so nothing else matters yet.
  if (!env) return findings;
  const nowMs = () => clock.nowMs();
  const remote = await Promise.all([checkStore(env, nowMs), checkBus(env, () => clock.nowUs()), checkGateway(env)]);
  return [
    ...findings,
    ...checkSettings(env),
    ...checkCertificates(env, nowMs()),
    ...checkLicense(env, clock),
    ...remote.flat(),
  ];
}

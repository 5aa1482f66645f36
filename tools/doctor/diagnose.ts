import { systemClock, type Clock } from '@svc/runtime';
import { checkCertificates, checkSettings, readEnvironment } from './check-environment';
import { checkBus, checkGateway, checkLicense, checkStore } from './check-services';
import type { Finding } from './finding';

/** All findings about an environment of the gateway. Changes nothing. @param ca as of `checkGateway` */
export async function diagnose(
  source: NodeJS.ProcessEnv,
  { clock = systemClock(), ca }: { clock?: Clock; ca?: string } = {},
): Promise<Finding[]> {
  const { env, findings } = readEnvironment(source);
  // Without a valid environment the services do not start, so nothing else matters yet.
  if (!env) return findings;
  const nowMs = () => clock.nowMs();
  const remote = await Promise.all([checkStore(env, nowMs), checkBus(env, () => clock.nowUs()), checkGateway(env, ca)]);
  return [
    ...findings,
    ...checkSettings(env),
    ...checkCertificates(env, nowMs()),
    ...checkLicense(env, clock),
    ...remote.flat(),
  ];
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { auditVariables, type AuditKeys } from './audit-keys';
import { delegationVariables } from './delegation-key';
import type { CertificateFiles } from './certificates';
import { grantVariables, type GrantKey } from './grant-key';
import type { Keys } from './keys';
import type { LicenseFiles, LicensePlan } from './license';
import type { PacketKey } from './packet-key';
import type { PolicyKey } from './policy-key';
import { dialable, type PickPort } from './ports';
import { repositoryRoot, type ServicePlan } from './settings';

type Variables = Record<string, string>;

export interface Generated {
  callerEnv: NodeJS.ProcessEnv;
  services: readonly ServicePlan[];
  redisUrl: string;
  natsUrl: string;
  /** Variables of the scheduler only. */
  schedulerVariables?: Variables;
  keys: Keys;
  certificates: CertificateFiles | undefined;
  license: { plan: LicensePlan; files: LicenseFiles };
  policyKey: PolicyKey;
  auditKeys: AuditKeys;
  delegationKey: string;
  packetKey: PacketKey;
  grantKey: GrantKey;
}

/**
 * The environment of each service by name: generated variables, overridden by those of the caller.
 *
 * Variables that belong together (a certificate and its key, a license and its public key) are all taken from the
 * caller if one of them is.
 */
export async function environments(given: Generated, pickPort: PickPort): Promise<Record<string, NodeJS.ProcessEnv>> {
  const { callerEnv, services, certificates } = given;
  const callers = Object.fromEntries(Object.entries(callerEnv).filter(([, value]) => value !== ''));
  const group = (variables: Variables): Variables =>
    Object.keys(variables).some((name) => callers[name] !== undefined) ? {} : variables;

  const shared: Variables = {
    REDIS_URL: given.redisUrl,
    NATS_URL: given.natsUrl,
    SAFETY_POLICY_PATH: configFile('safety.yaml'),
    OUTPUT_SCANNERS_PATH: configFile('output_scanners.yaml'),
    POOL_CONFIG_PATH: configFile('pools.yaml'),
    TIMEOUT_CONFIG_PATH: configFile('timeouts.yaml'),
    OUTPUT_POLICY_ENABLED: 'true',
    SVC_TELEMETRY_MODE: 'off',
    ...keyVariables(given.keys, callers),
    ...licenseVariables(given.license, callers),
    ...policyKeyVariables(given.policyKey, callers),
    ...auditVariables(given.auditKeys, callers),
    ...delegationVariables(given.delegationKey, callers),
    ...packetKeyVariables(given.packetKey, callers),
    ...grantVariables(given.grantKey, callers),
    ...(certificates && group({ GATEWAY_HTTP_TLS_CERT: certificates.cert, GATEWAY_HTTP_TLS_KEY: certificates.key })),
    ...(certificates && group({ GRPC_TLS_CERT: certificates.cert, GRPC_TLS_KEY: certificates.key })),
  };
  for (const { ports } of services) {
    for (const [name, port] of Object.entries(ports)) {
      if (callers[name] === undefined) shared[name] = `127.0.0.1:${await pickPort(port)}`;
    }
  }
  const scheme = certificates ? 'https' : 'http';
  const ownDataUrls = group({
    SVC_DATA_URL_KEY: randomBytes(32).toString('base64url'),
    SVC_DATA_URL_BASE: `${scheme}://${dialable(callers['GATEWAY_HTTP_ADDR'] ?? shared['GATEWAY_HTTP_ADDR'] ?? '')}`,
  });
  const dataUrls = callers['SVC_DATA_URL_KEY_PATH'] === undefined ? ownDataUrls : {};
  if (callers['SVC_RESULT_TICKET_KEYS_PATH'] === undefined) {
    shared['SVC_RESULT_TICKET_KEYS'] = randomBytes(32).toString('base64url');
  }
  const kernelTls = certificates && services.some(({ name }) => name === 'kernel') ? certificates : undefined;
  const own = (name: string): Variables => ({
    SVC_INSTANCE_ID: name,
    ...(name === 'scheduler' && given.schedulerVariables),
    ...(kernelTls && name === 'kernel' && kernelServer(kernelTls)),
    ...(kernelTls && name !== 'kernel' && kernelClient(kernelTls, shared['SAFETY_KERNEL_ADDR'])),
  });
  return Object.fromEntries(
    services.map(({ name }) => [name, { ...shared, ...dataUrls, ...own(name), ...callers, NODE_ENV: 'production' }]),
  );
}

const configFile = (name: string) => join(repositoryRoot, 'config', name);
const kernelServer = ({ cert, key }: CertificateFiles) => ({
  SAFETY_KERNEL_TLS_CERT: cert,
  SAFETY_KERNEL_TLS_KEY: key,
});

/** A TLS client may send a name to the server, not an address (RFC 6066). */
const kernelClient = ({ ca }: CertificateFiles, address = '') => ({
  SAFETY_KERNEL_TLS_CA: ca,
  ...(address && { SAFETY_KERNEL_ADDR: address.replace('127.0.0.1', 'localhost') }),
});

/** Adds the keys of the stack to those of the caller, in the variable that the caller does not use. */
function keyVariables({ file, keys, holders }: Keys, callers: NodeJS.ProcessEnv): Variables {
  if (callers['SVC_API_KEYS_PATH'] === undefined) return { SVC_API_KEYS_PATH: file };
  const entries = Object.entries(holders).map(([name, holder]) => ({
    key: keys[name as keyof typeof keys],
    ...holder,
  }));
  return { SVC_API_KEYS: JSON.stringify(entries) };
}

const licenseNames = ['FILE', 'TOKEN', 'PUBLIC_KEY', 'PUBLIC_KEY_PATH'].map((name) => `SVC_LICENSE_${name}`);

function licenseVariables({ plan, files }: Generated['license'], callers: NodeJS.ProcessEnv): Variables {
  if (plan === 'community' || licenseNames.some((name) => callers[name] !== undefined)) return {};
  return { SVC_LICENSE_FILE: files.file, SVC_LICENSE_PUBLIC_KEY_PATH: files.publicKey };
}

/** A caller that sets one variable for signatures sets all of them. */
function policyKeyVariables({ file, publicKey }: PolicyKey, callers: NodeJS.ProcessEnv): Variables {
  if (Object.keys(callers).some((name) => /^SVC_POLICY_(SIGNING_KEY|PUBLIC_KEY_|STRICT)/.test(name))) return {};
  return {
    SVC_POLICY_SIGNING_KEY_PATH: file,
    SVC_POLICY_SIGNING_KEY_ID: 'local',
    SVC_POLICY_PUBLIC_KEY_LOCAL: publicKey,
    SVC_POLICY_STRICT: 'enforce',
  };
}

/** Only where the caller turns signatures or sessions on: with a key the services sign every packet, which costs time. */
function packetKeyVariables({ file }: PacketKey, callers: NodeJS.ProcessEnv): Variables {
  const isOn = (name: string) => (callers[name] ?? 'off') !== 'off';
  const hasKey = callers['SVC_PACKET_SIGNING_KEY'] ?? callers['SVC_PACKET_SIGNING_KEY_PATH'];
  if (hasKey !== undefined || !(isOn('SVC_PACKET_SIGNATURES') || isOn('SVC_SDK_HANDSHAKE'))) return {};
  return { SVC_PACKET_SIGNING_KEY_PATH: file };
}

/** The address a service listens on, as a client dials it. */
export function getAddress(env: NodeJS.ProcessEnv | undefined, name: string): string {
  const address = env?.[name];
  return address ? dialable(address) : '';
}

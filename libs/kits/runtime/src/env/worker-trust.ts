import { variables, type EnvOf, type Rule } from './declare';
import { needed } from './rules';

/** Used by every process that selects workers or handles their packets. */
export const workerTrustVariables = variables({
  workerAttestation: {
    name: 'WORKER_ATTESTATION',
    type: 'enum',
    choices: ['off', 'warn', 'enforce'],
    shownDefault: 'from config, else off',
    doc: 'Handling of worker packets without a valid worker credential: not checked, handled with a warning, or refused. Must be equal on gateway, scheduler and engine.',
  },
  packetSignatures: {
    name: 'SVC_PACKET_SIGNATURES',
    type: 'enum',
    choices: ['off', 'warn', 'enforce'],
    default: 'off',
    doc: 'Handling of worker packets without a valid signature: not checked, handled with a warning, or refused. Must be equal on gateway, scheduler and engine.',
  },
  sdkHandshake: {
    name: 'SVC_SDK_HANDSHAKE',
    type: 'enum',
    choices: ['off', 'warn', 'enforce'],
    default: 'warn',
    doc: 'Handling of session tokens of workers, where SVC_PACKET_SIGNING_KEY is set: ignored, checked when present, or required. Must be equal on gateway, scheduler and engine.',
  },
  heartbeatMode: {
    name: 'SVC_HEARTBEAT_MODE',
    type: 'enum',
    choices: ['authority', 'warn', 'telemetry'],
    default: 'authority',
    doc: 'Source of the pool and the capabilities of a worker: its heartbeats, its heartbeats with a warning when they differ from its credential and session, or only these two. Must be equal on gateway, scheduler and engine.',
  },
  packetSigningKey: {
    name: 'SVC_PACKET_SIGNING_KEY',
    type: 'string',
    secret: true,
    doc: 'P-256 private key (PEM) that signs dispatches and cancels, so that workers can refuse forged ones, and the sessions of workers; must be equal on gateway, scheduler and engine.',
  },
  packetSigningKeyPath: { name: 'SVC_PACKET_SIGNING_KEY_PATH', type: 'path', doc: 'File of the packet signing key.' },
});

type TrustEnv = EnvOf<typeof workerTrustVariables>;

export const workerTrustRules: Rule<TrustEnv> = (env) => [
  ...needed(
    env.packetSignatures === 'enforce',
    'SVC_PACKET_SIGNING_KEY',
    env.packetSigningKey ?? env.packetSigningKeyPath,
    'SVC_PACKET_SIGNATURES is enforce',
  ),
  ...needed(
    env.sdkHandshake === 'enforce',
    'SVC_PACKET_SIGNING_KEY',
    env.packetSigningKey ?? env.packetSigningKeyPath,
    'SVC_SDK_HANDSHAKE is enforce',
  ),
  ...(env.packetSigningKey !== undefined && env.packetSigningKeyPath !== undefined
    ? [
        {
          name: 'SVC_PACKET_SIGNING_KEY_PATH',
          given: env.packetSigningKeyPath,
          expected: 'nothing, because SVC_PACKET_SIGNING_KEY is set',
          fix: 'Set one of the two.',
        },
      ]
    : []),
];

import { variables, type EnvOf, type Rule } from './declare';
import { needed, pair, refusedInProduction } from './rules';

/** How the gateway and the scheduler reach the kernel; without an address they run its code themselves. */
export const kernelClientVariables = variables({
  kernelAddr: {
    name: 'SAFETY_KERNEL_ADDR',
    type: 'address',
    doc: 'The kernel; unset, policy is decided within this process.',
  },
  kernelTlsCa: {
    name: 'SAFETY_KERNEL_TLS_CA',
    type: 'path',
    doc: 'Authority that the kernel certificate must come from.',
  },
  kernelTlsRequired: {
    name: 'SAFETY_KERNEL_TLS_REQUIRED',
    type: 'bool',
    default: 'false',
    productionDefault: 'true',
    doc: 'Refuses a plaintext connection to the kernel.',
  },
  kernelInsecure: {
    name: 'SAFETY_KERNEL_INSECURE',
    type: 'bool',
    default: 'false',
    doc: 'Does not check the kernel certificate.',
  },
  kernelTlsCert: {
    name: 'SAFETY_KERNEL_TLS_CERT',
    type: 'path',
    doc: 'Certificate of the kernel, or shown to it by a client.',
  },
  kernelTlsKey: { name: 'SAFETY_KERNEL_TLS_KEY', type: 'path', doc: 'Key of SAFETY_KERNEL_TLS_CERT.' },
  grpcClientKeepaliveTimeMs: {
    name: 'SVC_GRPC_CLIENT_KEEPALIVE_TIME',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'How often an idle gRPC connection is probed.',
  },
  grpcClientKeepaliveTimeoutMs: {
    name: 'SVC_GRPC_CLIENT_KEEPALIVE_TIMEOUT',
    type: 'duration',
    min: '1s',
    default: '10s',
    doc: 'How long the probe may take before the connection is given up.',
  },
});

/** Clients of the kernel check its certificate in production. */
export const kernelClientRules: Rule<EnvOf<typeof kernelClientVariables>> = (env) => [
  ...pair('SAFETY_KERNEL_TLS_CERT', env.kernelTlsCert, 'SAFETY_KERNEL_TLS_KEY', env.kernelTlsKey),
  ...refusedInProduction(
    env.production,
    'SAFETY_KERNEL_INSECURE',
    env.kernelInsecure,
    'set SAFETY_KERNEL_TLS_CA instead',
  ),
  ...needed(
    env.kernelAddr !== undefined && env.kernelTlsRequired,
    'SAFETY_KERNEL_TLS_CA',
    env.kernelTlsCa,
    'the kernel is remote and SAFETY_KERNEL_TLS_REQUIRED holds',
  ),
];

import { variables, type EnvOf, type Rule } from './declare';
import { needed, pair, refusedInProduction } from './rules';

/** Connection of the gateway and the scheduler to the kernel; without an address they evaluate policy in process. */
export const kernelClientVariables = variables({
  kernelAddr: {
    name: 'SAFETY_KERNEL_ADDR',
    type: 'address',
    doc: 'Address of the kernel; when unset, policy is evaluated in this process.',
  },
  kernelTlsCa: {
    name: 'SAFETY_KERNEL_TLS_CA',
    type: 'path',
    doc: 'Certificate authority that must have issued the kernel certificate.',
  },
  kernelTlsRequired: {
    name: 'SAFETY_KERNEL_TLS_REQUIRED',
    type: 'bool',
    default: 'false',
    productionDefault: 'true',
    doc: 'Rejects plaintext connections to the kernel.',
  },
  kernelInsecure: {
    name: 'SAFETY_KERNEL_INSECURE',
    type: 'bool',
    default: 'false',
    doc: 'Skips verification of the kernel certificate.',
  },
  kernelTlsCert: {
    name: 'SAFETY_KERNEL_TLS_CERT',
    type: 'path',
    doc: 'Certificate of the kernel listener, or client certificate for the kernel.',
  },
  kernelTlsKey: { name: 'SAFETY_KERNEL_TLS_KEY', type: 'path', doc: 'Key of SAFETY_KERNEL_TLS_CERT.' },
  grpcClientKeepaliveTimeMs: {
    name: 'SVC_GRPC_CLIENT_KEEPALIVE_TIME',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'Interval between keepalive probes on an idle gRPC connection.',
  },
  grpcClientKeepaliveTimeoutMs: {
    name: 'SVC_GRPC_CLIENT_KEEPALIVE_TIMEOUT',
    type: 'duration',
    min: '1s',
    default: '10s',
    doc: 'Time without a probe response after which the connection is closed.',
  },
});

/** Clients of the kernel verify its certificate in production. */
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
    'the kernel is remote and SAFETY_KERNEL_TLS_REQUIRED is on',
  ),
];

import { commonRules, commonVariables } from './common';
import { envSpec, variables, type EnvOf, type Rule } from './declare';
import { grpcServerRules, grpcServerVariables } from './grpc-server';
import { policyRules, policyVariables } from './policy';
import { metricsPrivate, needed, pair } from './rules';

const kernel = variables({
  addr: {
    name: 'SAFETY_KERNEL_ADDR',
    type: 'address',
    default: 'localhost:50051',
    listens: true,
    doc: 'Address of the gRPC listener.',
  },
  adminAddr: {
    name: 'SAFETY_KERNEL_ADMIN_ADDR',
    type: 'address',
    default: '127.0.0.1:9095',
    productionDefault: ':9095',
    listens: true,
    doc: 'Metrics and probes.',
  },
  metricsPublic: {
    name: 'SAFETY_KERNEL_METRICS_PUBLIC',
    type: 'bool',
    default: 'false',
    doc: 'Permits a metrics and probe listener that other hosts can reach in production.',
  },
  tlsCert: {
    name: 'SAFETY_KERNEL_TLS_CERT',
    type: 'path',
    doc: 'Certificate of the listener; required in production.',
  },
  tlsKey: { name: 'SAFETY_KERNEL_TLS_KEY', type: 'path', doc: 'Key of SAFETY_KERNEL_TLS_CERT.' },
  tlsCa: {
    name: 'SAFETY_KERNEL_TLS_CA',
    type: 'path',
    doc: 'Certificate authority of client certificates; when set, clients must present one. Required in production.',
  },
  open: {
    name: 'SAFETY_KERNEL_OPEN',
    type: 'bool',
    default: 'false',
    doc: 'Accepts clients without a certificate in production: any client that reaches the port can query as any tenant.',
  },
});

const kernelRules: Rule<EnvOf<typeof kernel>> = (env) => [
  ...pair('SAFETY_KERNEL_TLS_CERT', env.tlsCert, 'SAFETY_KERNEL_TLS_KEY', env.tlsKey),
  ...needed(
    env.production && !env.tlsKey,
    'SAFETY_KERNEL_TLS_CERT',
    env.tlsCert,
    'production serves the kernel over TLS only',
  ),
  ...needed(
    env.production && !env.open,
    'SAFETY_KERNEL_TLS_CA',
    env.tlsCa,
    'production accepts only clients with a certificate; SAFETY_KERNEL_OPEN=true accepts all clients',
  ),
  ...metricsPrivate(
    env.production,
    'SAFETY_KERNEL_ADMIN_ADDR',
    env.adminAddr,
    'SAFETY_KERNEL_METRICS_PUBLIC',
    env.metricsPublic,
  ),
];

/** The safety kernel's environment. */
export const kernelEnv = envSpec({
  service: 'kernel',
  variables: { ...commonVariables, ...grpcServerVariables, ...kernel, ...policyVariables },
  rules: [commonRules, grpcServerRules, kernelRules, policyRules],
});
export type KernelEnv = EnvOf<typeof kernelEnv.variables>;

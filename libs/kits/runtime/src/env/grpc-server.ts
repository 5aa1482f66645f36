import { variables, type EnvOf, type Rule } from './declare';
import { refusedInProduction } from './rules';

/** Keepalive and reflection of a gRPC listener. */
export const grpcServerVariables = variables({
  grpcReflection: {
    name: 'SVC_GRPC_REFLECTION',
    type: 'bool',
    default: 'false',
    doc: 'Enables gRPC server reflection.',
  },
  grpcReflectionForce: {
    name: 'SVC_GRPC_REFLECTION_FORCE',
    type: 'bool',
    default: 'false',
    doc: 'Permits server reflection in production.',
  },
  grpcKeepaliveTimeMs: {
    name: 'SVC_GRPC_SERVER_KEEPALIVE_TIME',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'Interval between keepalive probes to idle clients.',
  },
  grpcKeepaliveTimeoutMs: {
    name: 'SVC_GRPC_SERVER_KEEPALIVE_TIMEOUT',
    type: 'duration',
    min: '1s',
    default: '10s',
    doc: 'Time without a probe response after which the connection is closed.',
  },
  grpcMaxConnectionAgeMs: {
    name: 'SVC_GRPC_SERVER_MAX_CONNECTION_AGE',
    type: 'duration',
    min: '1m',
    default: '2h',
    doc: 'Maximum age of a connection; clients then reconnect, which spreads load over new replicas.',
  },
  grpcMaxConnectionAgeGraceMs: {
    name: 'SVC_GRPC_SERVER_MAX_CONNECTION_AGE_GRACE',
    type: 'duration',
    default: '30s',
    doc: 'Time allowed for open calls when a connection reaches its maximum age.',
  },
});

/** Reflection exposes the API to unauthenticated clients, so production requires a second switch. */
export const grpcServerRules: Rule<EnvOf<typeof grpcServerVariables>> = (env) =>
  refusedInProduction(
    env.production && !env.grpcReflectionForce,
    'SVC_GRPC_REFLECTION',
    env.grpcReflection,
    'or set SVC_GRPC_REFLECTION_FORCE=true',
  );

import { variables, type EnvOf, type Rule } from './declare';
import { refusedInProduction } from './rules';

/** Keepalive and reflection of a gRPC listener. */
export const grpcServerVariables = variables({
  grpcReflection: {
    name: 'SVC_GRPC_REFLECTION',
    type: 'bool',
    default: 'false',
    doc: 'Lets clients list the gRPC services.',
  },
  grpcReflectionForce: {
    name: 'SVC_GRPC_REFLECTION_FORCE',
    type: 'bool',
    default: 'false',
    doc: 'Permits reflection in production.',
  },
  grpcKeepaliveTimeMs: {
    name: 'SVC_GRPC_SERVER_KEEPALIVE_TIME',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'How often an idle client is probed.',
  },
  grpcKeepaliveTimeoutMs: {
    name: 'SVC_GRPC_SERVER_KEEPALIVE_TIMEOUT',
    type: 'duration',
    min: '1s',
    default: '10s',
    doc: 'How long the probe may take before the client is dropped.',
  },
  grpcMaxConnectionAgeMs: {
    name: 'SVC_GRPC_SERVER_MAX_CONNECTION_AGE',
    type: 'duration',
    min: '1m',
    default: '2h',
    doc: 'Connections are renewed after this time, so that load spreads over new replicas.',
  },
  grpcMaxConnectionAgeGraceMs: {
    name: 'SVC_GRPC_SERVER_MAX_CONNECTION_AGE_GRACE',
    type: 'duration',
    default: '30s',
    doc: 'How long calls may go on when a connection is renewed.',
  },
});

/** Reflection tells a stranger what is served, so production needs it asked for twice. */
export const grpcServerRules: Rule<EnvOf<typeof grpcServerVariables>> = (env) =>
  refusedInProduction(
    env.production && !env.grpcReflectionForce,
    'SVC_GRPC_REFLECTION',
    env.grpcReflection,
    'or set SVC_GRPC_REFLECTION_FORCE=true',
  );

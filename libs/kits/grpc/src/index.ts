export { batch, type Batch, type Outcome } from './batch';
export { packageDefinition, serviceDefinition } from './definitions';
export { stream, unary, type GrpcCall, type Method, type Stream, type Unary } from './method';
export {
  startGrpcServer,
  type ConnectionSettings,
  type GrpcServer,
  type GrpcServerDeps,
  type GrpcServerSettings,
} from './server';
export { toStatus } from './status';

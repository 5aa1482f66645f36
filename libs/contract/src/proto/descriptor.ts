import type { INamespace } from 'protobufjs';
import generated from './generated/descriptor.json';

/**
 * Every message and service of the wire, for `fromJSON` of @grpc/proto-loader. Load it with {@link wireOptions}, so that
 * gRPC objects are spelled as bus packets are. See docs/reference/http.md#grpc.
 */
export const protoDescriptor: INamespace = generated;

/** How gRPC objects read: wire spelling, int64 as number, enums as full names, defaults filled in. */
export const wireOptions = {
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  arrays: true,
  objects: true,
} as const;

/** Full names of the gRPC services, which appear in request paths. */
export const grpcServices = {
  gateway: 'svc.v1.SvcApi',
  kernel: 'svc.agent.v1.SafetyKernel',
  kernelBatch: 'svc.agent.v1.SafetyKernelBatch',
  output: 'svc.v1.OutputPolicyService',
} as const;

import { protoDescriptor, wireOptions } from '@svc/contract';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON, type PackageDefinition } from '@grpc/proto-loader';

let loaded: PackageDefinition | undefined;

/** Every message and service of the contract, loaded on first use. */
export const packageDefinition = (): PackageDefinition => (loaded ??= fromJSON(protoDescriptor, wireOptions));

/** A service by its full name, such as `svc.agent.v1.SafetyKernel`, for servers and clients alike. */
export function serviceDefinition(name: string): ServiceDefinition {
  const definition = packageDefinition()[name];
  if (!definition || 'format' in definition) throw new Error(`the contract has no service ${name}`);
  return definition as ServiceDefinition; // neither message nor enum, so a service
}

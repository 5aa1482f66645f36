import { grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import type { PolicyCheckRequestMessage, PolicyCheckResponseMessage } from './policy-messages';

/** Encoding of kernel requests and responses, equal for single calls and batches. */
export interface PolicyCodec {
  encodeRequest(message: PolicyCheckRequestMessage): Buffer;
  /** @throws Error for bytes that are not a PolicyCheckRequest */
  decodeRequest(bytes: Buffer): PolicyCheckRequestMessage;
  encodeResponse(message: PolicyCheckResponseMessage): Buffer;
  /** @throws Error for bytes that are not a PolicyCheckResponse */
  decodeResponse(bytes: Buffer): PolicyCheckResponseMessage;
}

export function policyCodec(): PolicyCodec {
  const { Check: any } = serviceDefinition(grpcServices.kernel); // all decision methods share their message types
  if (!any) throw new Error(`${grpcServices.kernel} has no method Check`);
  return {
    encodeRequest: any.requestSerialize,
    decodeRequest: any.requestDeserialize as PolicyCodec['decodeRequest'], // the descriptor is the contract's
    encodeResponse: any.responseSerialize,
    decodeResponse: any.responseDeserialize as PolicyCodec['decodeResponse'],
  };
}

import { grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import type { PolicyCheckRequestMessage, PolicyCheckResponseMessage } from './policy-messages';

/** How questions and answers of the kernel are encoded, alone and in a batch: the same bytes. */
export interface PolicyCodec {
  encodeRequest(message: PolicyCheckRequestMessage): Buffer;
  /** @throws Error for bytes that are no PolicyCheckRequest */
  decodeRequest(bytes: Buffer): PolicyCheckRequestMessage;
  encodeResponse(message: PolicyCheckResponseMessage): Buffer;
  /** @throws Error for bytes that are no PolicyCheckResponse */
  decodeResponse(bytes: Buffer): PolicyCheckResponseMessage;
}

export function policyCodec(): PolicyCodec {
  const { Check: any } = serviceDefinition(grpcServices.kernel); // all methods that decide take and answer the same
  if (!any) throw new Error(`${grpcServices.kernel} has no method Check`);
  return {
    encodeRequest: any.requestSerialize,
    decodeRequest: any.requestDeserialize as PolicyCodec['decodeRequest'], // the descriptor is the contract's
    encodeResponse: any.responseSerialize,
    decodeResponse: any.responseDeserialize as PolicyCodec['decodeResponse'],
  };
}

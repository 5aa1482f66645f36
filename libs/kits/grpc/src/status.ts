import { status } from '@grpc/grpc-js';
import { errorCodes, type AppError, type ErrorCode } from '@svc/contract';

const byHttpStatus: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  405: status.UNIMPLEMENTED,
  409: status.FAILED_PRECONDITION,
  413: status.RESOURCE_EXHAUSTED,
  415: status.INVALID_ARGUMENT,
  422: status.INVALID_ARGUMENT,
  429: status.RESOURCE_EXHAUSTED,
  502: status.UNAVAILABLE,
  503: status.UNAVAILABLE,
};
const byCode: Partial<Record<ErrorCode, status>> = { idempotency_conflict: status.ALREADY_EXISTS };

/** The gRPC code of an outcome. See docs/reference/http.md#grpc. */
export const toStatus = ({ errorCode }: AppError): status =>
  byCode[errorCode] ?? byHttpStatus[errorCodes[errorCode].status] ?? status.INTERNAL;

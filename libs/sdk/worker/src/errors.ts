import { WireErrorCode } from '@svc/contract';

interface JobErrorDetails {
  /** The application's own text code; retry rules match it. */
  code?: string;
  /** The typed code, also one of the application's from 1000 to 9999. */
  errorCode?: number;
  cause?: unknown;
}

abstract class JobError extends Error {
  readonly code: string;
  readonly errorCode: number;

  constructor(message: string, { code = '', errorCode = 0, cause }: JobErrorDetails = {}) {
    super(message, { cause });
    this.name = new.target.name;
    this.code = code;
    this.errorCode = errorCode;
  }
}

/** A retry may succeed: the job ends FAILED_RETRYABLE. */
export class RetryableError extends JobError {}

/**
 * Thrown by the function of an effect: it certainly did not happen, so the next attempt may make it. Any other error leaves its
 * outcome unknown. The job ends FAILED_RETRYABLE.
 */
export class NotAppliedError extends RetryableError {}

/** No retry can help: the job ends FAILED_FATAL. */
export class FatalError extends JobError {}

/** The worker rejects the job by its own policy: the job ends DENIED. */
export class DeniedError extends JobError {}

export type AbortCause = 'cancelled' | 'deadline' | 'lease_lost' | 'shutdown';

/** Why `job.signal` was aborted; the signal's `reason`. */
export class JobAborted extends Error {
  constructor(
    readonly abortedBy: AbortCause,
    message: string,
    /** Grace period of the handler; default: that of the worker. */
    readonly graceMs?: number,
  ) {
    super(message);
    this.name = 'JobAborted';
  }
}

export interface Failure {
  status: 'FAILED' | 'FAILED_RETRYABLE' | 'FAILED_FATAL' | 'DENIED' | 'TIMEOUT' | 'CANCELLED';
  error_code: string;
  error_message: string;
  error_code_enum: number;
}

const longestMessage = 2_000;

/** Maps a thrown value to the result of the job. See docs/reference/worker-protocol.md#minimum. */
export function toFailure(error: unknown): Failure {
  const error_message = (error instanceof Error ? error.message : String(error)).slice(0, longestMessage);
  if (error instanceof JobAborted) return { ...abortFailure(error.abortedBy), error_message };
  if (!(error instanceof JobError)) return { status: 'FAILED', error_code: '', error_message, error_code_enum: 0 };
  const codes = { error_code: error.code, error_message, error_code_enum: error.errorCode };
  if (error instanceof RetryableError) return { status: 'FAILED_RETRYABLE', ...codes };
  if (error instanceof FatalError) return { status: 'FAILED_FATAL', ...codes };
  return {
    status: 'DENIED',
    ...codes,
    error_code_enum: codes.error_code_enum || WireErrorCode.ERROR_CODE_PERMISSION_DENIED,
  };
}

function abortFailure(cause: AbortCause): Omit<Failure, 'error_message'> {
  switch (cause) {
    case 'cancelled':
      return { status: 'CANCELLED', error_code: 'cancelled', error_code_enum: 0 };
    case 'deadline':
      return { status: 'TIMEOUT', error_code: 'timeout', error_code_enum: WireErrorCode.ERROR_CODE_JOB_TIMEOUT };
    case 'lease_lost':
      return {
        status: 'FAILED_RETRYABLE',
        error_code: 'lease_lost',
        error_code_enum: WireErrorCode.ERROR_CODE_CONNECTION_LOST,
      };
    case 'shutdown':
      return {
        status: 'FAILED_RETRYABLE',
        error_code: 'worker_shutdown',
        error_code_enum: WireErrorCode.ERROR_CODE_WORKER_UNAVAILABLE,
      };
  }
}

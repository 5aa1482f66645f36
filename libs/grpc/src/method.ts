import {
  Metadata,
  status,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { AppError } from '@svc/contract';
import { statusOf } from './status';

/** What a method knows of its call beside the message. */
export interface GrpcCall {
  /** The first value of a metadata entry, as text. */
  metadata(name: string): string | undefined;
  peer: string;
  /** When the caller stops waiting, milliseconds since 1970; infinite when it named no deadline. */
  deadlineMs: number;
  /** Aborts when the caller is gone, its time is up, or the server stops. */
  signal: AbortSignal;
}

export interface MethodOptions {
  /** Recognises failures of the app's dependencies, such as a lost store connection. */
  asAppError?: ((error: unknown) => AppError | undefined) | undefined;
  /** Anything thrown that is not an outcome. It is answered INTERNAL without detail. */
  onDefect(error: unknown, method: string): void;
  /** Calls without a deadline get this one, and none goes on for longer. */
  limitMs: number;
  stopping: AbortSignal;
}

/** One method: takes a message, answers one. */
export type Unary<Request, Response> = (request: Request, call: GrpcCall) => Promise<Response>;
/** One method whose answers come one by one. */
export type Stream<Request, Response> = (request: Request, call: GrpcCall) => AsyncIterable<Response>;

export type Method = { kind: 'unary' | 'stream'; build(name: string, options: MethodOptions): UntypedHandleCall };

/** A method with one answer; what it throws becomes a status. A server that stops lets it finish. */
export const unary = <Request, Response extends object>(run: Unary<Request, Response>): Method => ({
  kind: 'unary',
  build(name, options): handleUnaryCall<Request, Response> {
    return (call, callback) => {
      const ending = endOf(call, options.limitMs);
      const late = new Promise<never>((_resolve, reject) => {
        ending.signal.addEventListener('abort', () => reject(new TimeUp()), { once: true });
      });
      Promise.race([run(call.request, callOf(call, ending.signal)), late])
        .then(
          (answer) => callback(null, answer),
          (error: unknown) => callback(failureOf(error, name, options)),
        )
        .finally(() => ending.clear());
    };
  },
});

/** A method with many answers, which a server that stops ends. A slow reader holds the next answer back. */
export const stream = <Request, Response extends object>(run: Stream<Request, Response>): Method => ({
  kind: 'stream',
  build(name, options): handleServerStreamingCall<Request, Response> {
    return (call) => {
      const ending = endOf(call, Number.POSITIVE_INFINITY, options.stopping);
      void pour(call, run(call.request, callOf(call, ending.signal)), ending.signal)
        .then(
          () => (ending.signal.aborted ? call.emit('error', failureOf(endReason(options), name, options)) : call.end()),
          (error: unknown) => call.emit('error', failureOf(error, name, options)),
        )
        .finally(() => ending.clear());
    };
  },
});

const endReason = ({ stopping }: MethodOptions): Error =>
  stopping.aborted ? new AppError('service_unavailable') : new TimeUp();

async function pour<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  answers: AsyncIterable<Response>,
  signal: AbortSignal,
): Promise<void> {
  for await (const answer of answers) {
    if (signal.aborted) return;
    if (call.write(answer)) continue;
    await new Promise<void>((resolve) => {
      call.once('drain', resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

class TimeUp extends Error {}

interface Failure {
  code: status;
  details: string;
  metadata: Metadata;
}

/** An outcome with its error code as metadata `svc-error-code`, so that clients need not read texts. */
function failureOf(error: unknown, name: string, { asAppError, onDefect }: MethodOptions): Failure {
  if (error instanceof TimeUp) {
    return { code: status.DEADLINE_EXCEEDED, details: 'the time for this call is up', metadata: new Metadata() };
  }
  const outcome = error instanceof AppError ? error : asAppError?.(error);
  const metadata = new Metadata();
  if (!outcome) {
    onDefect(error, name);
    return { code: status.INTERNAL, details: 'internal error', metadata };
  }
  const { error: text, code } = outcome.toBody();
  metadata.set('svc-error-code', code);
  const retryAfter = outcome.headers['Retry-After'];
  if (retryAfter) metadata.set('retry-after', retryAfter);
  return { code: statusOf(outcome), details: text, metadata };
}

type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'getDeadline' | 'getPeer' | 'on' | 'cancelled'>;

/** Aborts when the first of: caller gone, deadline, our own limit, the server stops. */
function endOf(call: AnyCall, limitMs: number, stopping?: AbortSignal) {
  const ending = new AbortController();
  const end = () => ending.abort();
  const leftMs = Math.min(deadlineOf(call) - Date.now(), limitMs);
  const timer = Number.isFinite(leftMs) ? setTimeout(end, Math.max(0, leftMs)) : undefined;
  call.on('cancelled', end);
  stopping?.addEventListener('abort', end, { once: true });
  return {
    signal: ending.signal,
    clear() {
      clearTimeout(timer);
      stopping?.removeEventListener('abort', end);
    },
  };
}

function callOf(call: AnyCall, signal: AbortSignal): GrpcCall {
  return {
    metadata(name) {
      const [first] = call.metadata.get(name);
      return first?.toString();
    },
    peer: call.getPeer(),
    deadlineMs: deadlineOf(call),
    signal,
  };
}

function deadlineOf(call: AnyCall): number {
  const deadline = call.getDeadline();
  return typeof deadline === 'number' ? deadline : deadline.getTime();
}

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
import { toStatus } from './status';

/** Context of a call. */
export interface GrpcCall {
  /** The first value of a metadata entry, as text. */
  metadata(name: string): string | undefined;
  peer: string;
  /** Deadline of the call, milliseconds since 1970; infinite when the caller set none. */
  deadlineMs: number;
  /** Aborts when the caller disconnects, the deadline passes, or the server stops. */
  signal: AbortSignal;
}

export interface MethodOptions {
  /** Recognizes failures of the app's dependencies, such as a lost Redis connection. */
  asAppError?: ((error: unknown) => AppError | undefined) | undefined;
  /** Called for any exception but an AppError. The response is INTERNAL without detail. */
  onDefect(error: unknown, method: string): void;
  /** Maximum and default duration of a call. */
  limitMs: number;
  stopping: AbortSignal;
}

/** A unary method. */
export type Unary<Request, Response> = (request: Request, call: GrpcCall) => Promise<Response>;
/** A server-streaming method. */
export type Stream<Request, Response> = (request: Request, call: GrpcCall) => AsyncIterable<Response>;

export type Method = { kind: 'unary' | 'stream'; build(name: string, options: MethodOptions): UntypedHandleCall };

/** A unary method; exceptions become a status. A stopping server lets it finish. */
export const unary = <Request, Response extends object>(run: Unary<Request, Response>): Method => ({
  kind: 'unary',
  build(name, options): handleUnaryCall<Request, Response> {
    return (call, callback) => {
      const ending = new Ending(call, options.limitMs, () => callback(toFailure(new TimeUp(), name, options)));
      run(call.request, new RunningCall(call, ending)).then(
        (answer) => ending.settle() && callback(null, answer),
        (error: unknown) => ending.settle() && callback(toFailure(error, name, options)),
      );
    };
  },
});

/** A streaming method, which a stopping server ends. A slow reader delays the next message. */
export const stream = <Request, Response extends object>(run: Stream<Request, Response>): Method => ({
  kind: 'stream',
  build(name, options): handleServerStreamingCall<Request, Response> {
    return (call) => {
      const ending = new Ending(call, Number.POSITIVE_INFINITY);
      const end = () => ending.end();
      options.stopping.addEventListener('abort', end, { once: true });
      const { signal } = ending;
      void pour(call, run(call.request, new RunningCall(call, ending)), signal)
        .then(
          () => (signal.aborted ? call.emit('error', toFailure(endReason(options), name, options)) : call.end()),
          (error: unknown) => call.emit('error', toFailure(error, name, options)),
        )
        .finally(() => {
          ending.settle();
          options.stopping.removeEventListener('abort', end);
        });
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

/** The status of a failure, with the error code as metadata `svc-error-code`, so that clients need not parse texts. */
export function toFailure(error: unknown, name: string, { asAppError, onDefect }: MethodOptions): Failure {
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
  return { code: toStatus(outcome), details: text, metadata };
}

type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'getDeadline' | 'getPeer' | 'on' | 'cancelled'>;

/** Ends a call on the first of disconnect, deadline and our own limit. No-op once the call is settled. */
class Ending {
  private state: 'running' | 'ended' | 'settled' = 'running';
  private controller: AbortController | undefined;
  private readonly timer: NodeJS.Timeout | undefined;

  constructor(
    call: AnyCall,
    limitMs: number,
    private readonly onEnd: () => void = () => undefined,
  ) {
    // The library itself ends a call at its caller's deadline.
    if (Date.now() + limitMs < getDeadline(call)) this.timer = setTimeout(() => this.end(), limitMs);
    // Also emitted after every response, when the call is settled.
    call.on('cancelled', () => this.end());
  }

  /** Created on first access: creating and aborting one costs more than a decision, and most methods never use it. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.state === 'ended') this.controller.abort();
    return this.controller.signal;
  }

  end(): void {
    if (!this.leave('ended')) return;
    this.controller?.abort();
    this.onEnd();
  }

  /** @returns false when the call has already ended */
  settle(): boolean {
    return this.leave('settled');
  }

  private leave(state: 'ended' | 'settled'): boolean {
    if (this.state !== 'running') return false;
    this.state = state;
    clearTimeout(this.timer);
    return true;
  }
}

class RunningCall implements GrpcCall {
  constructor(
    private readonly call: AnyCall,
    private readonly ending: Ending,
  ) {}

  // Bound, because handlers destructure it.
  readonly metadata = (name: string): string | undefined => {
    const [first] = this.call.metadata.get(name);
    return first?.toString();
  };

  get peer(): string {
    return this.call.getPeer();
  }

  get deadlineMs(): number {
    return getDeadline(this.call);
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }
}

function getDeadline(call: AnyCall): number {
  const deadline = call.getDeadline();
  return typeof deadline === 'number' ? deadline : deadline.getTime();
}

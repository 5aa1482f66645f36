import type { Caller, Endpoint, ParamNames } from '@svc/contract';
import type { ByteStream } from './byte-stream';
import type { EventStream } from './event-stream';

type QueryOf<E> = E extends Endpoint<string, infer Query> ? Query : never;
type BodyOf<E> = E extends Endpoint<string, infer _Query, infer Body> ? Body : never;
type AnswerOf<E> = E extends Endpoint<string, infer _Query, infer _Body, infer Answer> ? Answer : never;
type CallerOf<E> = E extends { access: 'public' } ? Caller | undefined : Caller;

/** Input of a handler, validated against the endpoint's declaration. */
export interface Call<E extends Endpoint, Ctx> {
  params: E extends { path: infer Path extends string } ? Record<ParamNames<Path>, string> : never;
  query: QueryOf<E>;
  body: BodyOf<E>;
  /** The body as it was sent, on routes with `rawBody`; empty on others. */
  bytes: Uint8Array;
  /** Undefined on public routes, except those that identify callers. */
  caller: CallerOf<E>;
  ctx: Ctx;
  /** A request header by name in any case; repeated headers are joined as by Node. */
  header(name: string): string | undefined;
  requestId: string;
  /** The client's address, through trusted proxies only. */
  ip: string;
  /** Whether the client uses TLS, as far as this server and trusted proxies know. */
  isSecure: boolean;
}

interface AnswerOptions {
  status?: number;
  /** A list is sent as several headers of that name, such as Set-Cookie. */
  headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** A response with headers, or with a declared status other than the endpoint's first. */
export class Answered<Body> {
  constructor(
    readonly body: Body,
    readonly options: AnswerOptions,
  ) {}
}

/** A response body that is JSON text already. It is sent as it is. */
export class JsonText<Body> {
  constructor(readonly text: string) {}

  /** The value of the text, which was composed of valid JSON as `Body`. */
  decode(): Body {
    return JSON.parse(this.text) as Body;
  }
}

/** `return answer(view, { headers: { 'X-Trace-Id': id } })`; a status must be among the endpoint's `otherAnswers`. */
export const answer = <Body>(body: Body, options: AnswerOptions): Answered<Body> => new Answered(body, options);

export interface Route<Ctx> {
  endpoint: Endpoint;
  run(call: Call<Endpoint, Ctx>): Promise<unknown>;
}

/** Binds handlers to an app's context: the context's type is named once per app. */
export const handlersFor =
  <Ctx>() =>
  <E extends Endpoint>(
    endpoint: E,
    run: (
      call: Call<E, Ctx>,
    ) => Promise<AnswerOf<E> | Answered<AnswerOf<E>> | JsonText<AnswerOf<E>> | EventStream | ByteStream>,
    // The gate builds the call from this very endpoint, which is all that makes this one cast true.
  ): Route<Ctx> => ({ endpoint, run: run as unknown as Route<Ctx>['run'] });

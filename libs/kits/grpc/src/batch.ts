import { toFailure, unary, type GrpcCall, type Method, type MethodOptions } from './method';

/** Result of a batch entry. */
export type Outcome<Answer> =
  | { kind: 'answered'; answer: Answer }
  /** With the status, text and error code of an equivalent single call. */
  | { kind: 'failed'; code: number; details: string; errorCode: string };

export interface Batch<Request, Response, Entry, Answer> {
  /** @throws AppError for a batch that is rejected as a whole */
  entries(request: Request): readonly Entry[];
  /** Handles one entry; an exception affects only this entry. */
  answer(entry: Entry, call: GrpcCall): Promise<Answer>;
  /** Results are in the order of the entries. */
  response(outcomes: readonly Outcome<Answer>[]): Response;
}

/** A method that handles many entries concurrently and returns one response. */
export const batch = <Request, Response extends object, Entry, Answer>(
  parts: Batch<Request, Response, Entry, Answer>,
): Method => ({
  kind: 'unary',
  build: (name, options) =>
    unary<Request, Response>(async (request, call) => {
      const outcomes = parts.entries(request).map((entry) => runEntry(() => parts.answer(entry, call), name, options));
      return parts.response(await Promise.all(outcomes));
    }).build(name, options),
});

async function runEntry<Answer>(
  run: () => Promise<Answer>,
  name: string,
  options: MethodOptions,
): Promise<Outcome<Answer>> {
  try {
    return { kind: 'answered', answer: await run() };
  } catch (error) {
    const { code, details, metadata } = toFailure(error, name, options);
    const [errorCode = ''] = metadata.get('svc-error-code');
    return { kind: 'failed', code, details, errorCode: errorCode.toString() };
  }
}

import { failureOf, unary, type GrpcCall, type Method, type MethodOptions } from './method';

/** How one entry of a batch ended. */
export type Outcome<Answer> =
  | { kind: 'answered'; answer: Answer }
  /** With the status, the text and the error code that a call of its own would have got. */
  | { kind: 'failed'; code: number; details: string; errorCode: string };

export interface Batch<Request, Response, Entry, Answer> {
  /** @throws AppError for a batch that is refused as a whole */
  entries(request: Request): readonly Entry[];
  /** Answers one entry; what it throws is the outcome of this entry alone. */
  answer(entry: Entry, call: GrpcCall): Promise<Answer>;
  /** Outcomes come in the order of the entries. */
  response(outcomes: readonly Outcome<Answer>[]): Response;
}

/** A method with one answer for many entries, which are worked on side by side. */
export const batch = <Request, Response extends object, Entry, Answer>(
  parts: Batch<Request, Response, Entry, Answer>,
): Method => ({
  kind: 'unary',
  build: (name, options) =>
    unary<Request, Response>(async (request, call) => {
      const outcomes = parts.entries(request).map((entry) => outcomeOf(() => parts.answer(entry, call), name, options));
      return parts.response(await Promise.all(outcomes));
    }).build(name, options),
});

async function outcomeOf<Answer>(
  run: () => Promise<Answer>,
  name: string,
  options: MethodOptions,
): Promise<Outcome<Answer>> {
  try {
    return { kind: 'answered', answer: await run() };
  } catch (error) {
    const { code, details, metadata } = failureOf(error, name, options);
    const [errorCode = ''] = metadata.get('svc-error-code');
    return { kind: 'failed', code, details, errorCode: errorCode.toString() };
  }
}

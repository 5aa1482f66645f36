import { status } from '@grpc/grpc-js';
import { limits } from '@svc/contract';
import type { DecisionAnswerMessage, DecisionMethod } from '../wire/batch-messages';
import { policyCodec } from '../wire/policy-codec';
import type { PolicyCheckRequestMessage, PolicyCheckResponseMessage } from '../wire/policy-messages';

/** RPCs used for evaluations. */
export interface DecisionWire {
  /** @throws ServiceError */
  one(method: DecisionMethod, request: Buffer, deadlineMs: number): Promise<PolicyCheckResponseMessage>;
  /** @throws ServiceError */
  many(
    questions: readonly { method: DecisionMethod; request: Buffer }[],
    deadlineMs: number,
  ): Promise<readonly DecisionAnswerMessage[]>;
  /** Calls back once when the current connection is lost. */
  onceDisconnected(callback: () => void): void;
}

interface Question {
  method: DecisionMethod;
  request: Buffer;
  resolve(answer: PolicyCheckResponseMessage): void;
  reject(error: unknown): void;
}

/** Requests of one turn of the event loop with the same deadline. */
interface Turn {
  /** Milliseconds since 1970. */
  deadlineMs: number;
  questions: Question[];
}

/** The kernel scans longer contents on a thread, which would delay the rest of the batch. */
const contentAloneBytes = 8 * 1_024;
/** Keeps a full batch within its size limit. */
const aloneBytes = limits.decisionBatchBytes / limits.decisionBatch;
const askAgainMs = 60_000;
/** The service is unknown or blocked by a proxy. Nothing was evaluated. */
const notOffered: readonly number[] = [status.UNIMPLEMENTED, status.PERMISSION_DENIED];
/** This batch was rejected, for example by lower limits; single requests may succeed. */
const refused: readonly number[] = [status.INVALID_ARGUMENT, status.RESOURCE_EXHAUSTED];

/**
 * Batches the requests of one turn of the event loop, since a call costs several times an evaluation. Transparent to
 * callers: requests fail individually, and a kernel without batch support gets single calls. ADR 8.
 */
export class DecisionBatches {
  /** By their time-out. */
  private readonly turns = new Map<number, Turn>();
  private readonly codec = policyCodec();
  private oneByOneUntilMs = Number.NEGATIVE_INFINITY;
  private isWatching = false;

  constructor(
    private readonly wire: DecisionWire,
    private readonly nowMs: () => number,
  ) {}

  /** @throws ServiceError, of which only `code` and `message` are certain */
  async ask(
    method: DecisionMethod,
    message: PolicyCheckRequestMessage,
    timeoutMs: number,
  ): Promise<PolicyCheckResponseMessage> {
    const request = this.codec.encodeRequest(message);
    const goesAlone =
      message.input_content.length >= contentAloneBytes ||
      request.length > aloneBytes ||
      // The kernel may have to compile it first, which would delay the rest of the batch.
      Boolean(message.trial?.bundle_id);
    if (goesAlone || !this.isOffered) return this.wire.one(method, request, Date.now() + timeoutMs);
    return new Promise((resolve, reject) => {
      this.getTurn(timeoutMs).questions.push({ method, request, resolve, reject });
    });
  }

  private get isOffered(): boolean {
    return this.nowMs() >= this.oneByOneUntilMs;
  }

  private getTurn(timeoutMs: number): Turn {
    const open = this.turns.get(timeoutMs);
    if (open) return open;
    const turn: Turn = { deadlineMs: Date.now() + timeoutMs, questions: [] };
    this.turns.set(timeoutMs, turn);
    setImmediate(() => {
      this.turns.delete(timeoutMs);
      for (let i = 0; i < turn.questions.length; i += limits.decisionBatch) {
        void this.send(turn.questions.slice(i, i + limits.decisionBatch), turn.deadlineMs);
      }
    });
    return turn;
  }

  private async send(questions: readonly Question[], deadlineMs: number): Promise<void> {
    if (questions.length === 1) return this.sendOneByOne(questions, deadlineMs);
    try {
      const answers = await this.wire.many(
        questions.map(({ method, request }) => ({ method, request })),
        deadlineMs,
      );
      for (const [i, question] of questions.entries()) this.settle(question, answers[i]);
    } catch (error) {
      const code = getStatusCode(error);
      if (notOffered.includes(code)) this.doWithout();
      if (notOffered.includes(code) || refused.includes(code)) return this.sendOneByOne(questions, deadlineMs);
      for (const { reject } of questions) reject(error);
    }
  }

  private sendOneByOne(questions: readonly Question[], deadlineMs: number): void {
    for (const { method, request, resolve, reject } of questions) {
      this.wire.one(method, request, deadlineMs).then(resolve, reject);
    }
  }

  private settle({ resolve, reject }: Question, answer: DecisionAnswerMessage | undefined): void {
    if (!answer) return reject(new Error('the kernel returned fewer results than requests'));
    if (answer.code !== status.OK) return reject(new AnswerFailure(answer));
    try {
      resolve(this.codec.decodeResponse(answer.response));
    } catch (error) {
      reject(error);
    }
  }

  /** A later kernel or connection may support batches. */
  private doWithout(): void {
    this.oneByOneUntilMs = this.nowMs() + askAgainMs;
    if (this.isWatching) return;
    this.isWatching = true;
    this.wire.onceDisconnected(() => {
      this.isWatching = false;
      this.oneByOneUntilMs = Number.NEGATIVE_INFINITY;
    });
  }
}

/** Error of one request of a batch. */
class AnswerFailure extends Error {
  override readonly name = 'AnswerFailure';
  readonly code: number;

  constructor({ code, details }: DecisionAnswerMessage) {
    super(`${code} ${status[code] ?? ''}: ${details}`); // the format of the gRPC library for a single call
    this.code = code;
  }
}

const getStatusCode = (error: unknown): number =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number' ? error.code : -1;

import { status, type ServiceError } from '@grpc/grpc-js';
import type { PolicyDecision, PolicyRequest } from '@svc/policy';
import type { SharedBreaker } from '../breaker/shared-breaker';
import type {
  BreakerStatuses,
  ExplainedDecision,
  Kernel,
  OutputCheckRequest,
  OutputVerdict,
  PolicyTrial,
  Readiness,
} from '../kernel';
import type { DecisionMethod } from '../wire/batch-messages';
import { outputRequestMessage, toOutputVerdict, type OutputCheckResponseMessage } from '../wire/output-messages';
import {
  checkRequestMessage,
  toDecision,
  toExplanation,
  type PolicyCheckRequestMessage,
  type PolicyCheckResponseMessage,
} from '../wire/policy-messages';
import type { KernelConnection } from './kernel-connection';

/** No decision: the kernel was not called, did not respond, or its response is invalid. */
export class KernelUnavailable extends Error {
  override readonly name = 'KernelUnavailable';
  /** The kernel responded with an error or without a decision. */
  readonly answered: boolean;

  constructor(message: string, { cause, answered = false }: { cause?: unknown; answered?: boolean } = {}) {
    super(message, { cause });
    this.answered = answered;
  }
}

export interface RemoteKernelParts {
  connection: KernelConnection;
  breakers: { input: SharedBreaker; output: SharedBreaker };
  limits: CallLimits;
  nowMs(): number;
}

export interface CallLimits {
  policyMs: number;
  metadataMs: number;
  contentMs: number;
}

/** Errors caused by the request, which say nothing about the kernel's health. */
const ownFaults: readonly number[] = [status.INVALID_ARGUMENT, status.RESOURCE_EXHAUSTED, status.CANCELLED];
/** Snapshots are read with every dispatch. */
const snapshotsKeptMs = 1_000;

/** The kernel of another process, over gRPC, behind a circuit breaker for each of its services. */
export class RemoteKernel implements Kernel {
  private snapshots: { known: Promise<string[]>; untilMs: number } | undefined;

  constructor(private readonly parts: RemoteKernelParts) {}

  check(request: PolicyRequest): Promise<PolicyDecision> {
    return this.decide('Check', checkRequestMessage(request), toDecision);
  }

  evaluate(request: PolicyRequest): Promise<PolicyDecision> {
    return this.decide('Evaluate', checkRequestMessage(request), toDecision);
  }

  explain(request: PolicyRequest): Promise<ExplainedDecision> {
    return this.decide('Explain', checkRequestMessage(request), toExplanation);
  }

  simulate(request: PolicyRequest, trial?: PolicyTrial): Promise<PolicyDecision> {
    const message = checkRequestMessage(request, trial);
    if (!trial?.candidate) return this.decide('Simulate', message, toDecision);
    return this.aside(() => this.asked('Simulate', message, toDecision));
  }

  listSnapshots(): Promise<string[]> {
    const nowMs = this.parts.nowMs();
    if (!this.snapshots || this.snapshots.untilMs <= nowMs) {
      const known = this.guarded('input', () => this.askSnapshots());
      this.snapshots = { known, untilMs: nowMs + snapshotsKeptMs };
      known.catch(() => {
        this.snapshots = undefined;
      });
    }
    return this.snapshots.known;
  }

  checkOutput(request: OutputCheckRequest): Promise<OutputVerdict> {
    const { metadataMs, contentMs } = this.parts.limits;
    const timeoutMs = request.output_content ? contentMs : metadataMs;
    return this.guarded('output', async () => {
      const message = outputRequestMessage(request);
      const reply = await this.parts.connection.call<object, OutputCheckResponseMessage>(
        'output',
        'CheckOutput',
        message,
        timeoutMs,
      );
      const verdict = toOutputVerdict(reply);
      if (!verdict) throw new KernelUnavailable('the kernel’s reply names no policy');
      return verdict;
    });
  }

  ready(): Readiness {
    const { connection, breakers } = this.parts;
    if (breakers.input.isOpen) return { ok: false, reason: 'the circuit breaker of the kernel is open' };
    return connection.isReachable ? { ok: true } : { ok: false, reason: 'the kernel is unavailable' };
  }

  async breakers(): Promise<BreakerStatuses> {
    const { input, output } = this.parts.breakers;
    const [ofInput, ofOutput] = await Promise.all([input.status(), output.status()]);
    return { input: ofInput, output: ofOutput };
  }

  close(): Promise<void> {
    this.parts.connection.close();
    return Promise.resolve();
  }

  private decide<T>(
    method: DecisionMethod,
    message: PolicyCheckRequestMessage,
    read: (reply: PolicyCheckResponseMessage) => T | undefined,
  ): Promise<T> {
    return this.guarded('input', () => this.asked(method, message, read));
  }

  private async asked<T>(
    method: DecisionMethod,
    message: PolicyCheckRequestMessage,
    read: (reply: PolicyCheckResponseMessage) => T | undefined,
  ): Promise<T> {
    const { connection, limits } = this.parts;
    const reply = await connection.decide(method, message, limits.policyMs);
    const decision = read(reply);
    if (!decision) {
      const what = `the kernel decided ${reply.decision}, which is not known here`;
      throw new KernelUnavailable(what, { answered: true });
    }
    return decision;
  }

  private async askSnapshots(): Promise<string[]> {
    const { connection, limits } = this.parts;
    const reply = await connection.call<object, { snapshots: string[] }>(
      'kernel',
      'ListSnapshots',
      {},
      limits.policyMs,
    );
    return reply.snapshots;
  }

  /** A denial counts as a success of the call. See docs/reference/policy.md#kernel. */
  private async guarded<T>(name: 'input' | 'output', ask: () => Promise<T>): Promise<T> {
    const breaker = this.parts.breakers[name];
    const permit = await breaker.permit();
    if (permit === 'refused') throw new KernelUnavailable('the circuit breaker of the kernel is open');
    try {
      const answer = await ask();
      await breaker.settle(permit, 'answered');
      return answer;
    } catch (error) {
      await breaker.settle(permit, isOwnFault(error) ? 'answered' : 'failed');
      throw unavailable(error);
    }
  }

  /** Compiling a candidate may be slow, so its failures do not count for the breaker of live requests. */
  private async aside<T>(ask: () => Promise<T>): Promise<T> {
    if (this.parts.breakers.input.isOpen) throw new KernelUnavailable('the circuit breaker of the kernel is open');
    try {
      return await ask();
    } catch (error) {
      throw unavailable(error);
    }
  }
}

const unavailable = (error: unknown): KernelUnavailable =>
  error instanceof KernelUnavailable
    ? error
    : new KernelUnavailable('the kernel did not respond', { cause: error, answered: isAnswer(error) });

/** Statuses that gRPC sets without a response; any other status comes from the kernel. */
const silences: readonly number[] = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED];
const isAnswer = (error: unknown): boolean => {
  const code = (error as Partial<ServiceError> | null)?.code;
  return code !== undefined && !silences.includes(code);
};

const isOwnFault = (error: unknown): boolean => ownFaults.includes((error as Partial<ServiceError> | null)?.code ?? -1);

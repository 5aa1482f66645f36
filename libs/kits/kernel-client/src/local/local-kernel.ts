import { AppError } from '@svc/contract';
import {
  decideAsync,
  explain,
  type EvaluationOptions,
  type Policy,
  type PolicyDecision,
  type PolicyRequest,
} from '@svc/policy';
import type { KernelEvents } from '../events';
import { failThreshold } from '../breaker/breaker.states';
import type {
  BreakerStatus,
  BreakerStatuses,
  ExplainedDecision,
  Kernel,
  OutputCheckRequest,
  OutputVerdict,
  PolicyTrial,
  Readiness,
} from '../kernel';
import type { DecisionCache } from './decision-cache';
import { askedOnce, withInputScan } from './input-scan';
import { checkOutput } from './output-check';
import type { Scanner } from './scanner';
import type { SnapshotHistory } from './snapshot-history';
import { TriedPolicies } from './tried-policies';
import type { Counter, Velocity } from './velocity';

/** Policy and scanners in effect; replaced together when files change. */
export interface InForce {
  policy: Policy;
  scanner: Scanner;
}

export interface LocalKernelParts {
  inForce(): InForce;
  history: Pick<SnapshotHistory, 'list'>;
  cache: DecisionCache;
  velocity: Velocity;
  velocityFailMode: 'open' | 'closed';
  events: KernelEvents;
  nowMs(): number;
  close(): Promise<void>;
}

const alwaysClosed: BreakerStatus = {
  state: 'closed',
  failures: 0,
  fail_threshold: failThreshold,
  cooldown_remaining_ms: 0,
};

type Method = 'check' | 'evaluate' | 'explain' | 'simulate';

/** The kernel within this process. */
export class LocalKernel implements Kernel {
  private closed = false;
  private readonly trials = new TriedPolicies();

  constructor(private readonly parts: LocalKernelParts) {}

  check(request: PolicyRequest): Promise<PolicyDecision> {
    return this.decide('check', request, this.parts.velocity.count);
  }

  evaluate(request: PolicyRequest): Promise<PolicyDecision> {
    return this.decide('evaluate', request, this.parts.velocity.count);
  }

  async simulate(request: PolicyRequest, trial?: PolicyTrial): Promise<PolicyDecision> {
    const { velocity, nowMs } = this.parts;
    if (!trial) return this.decide('simulate', request, velocity.look);
    const startedMs = nowMs();
    const policy = this.tried(trial);
    const { without = [] } = trial;
    const decision = await this.scanned((options) => decideAsync(policy, request, velocity.look, { ...options, without })); // prettier-ignore
    return this.report('simulate', decision, startedMs);
  }

  async explain(request: PolicyRequest): Promise<ExplainedDecision> {
    const startedMs = this.parts.nowMs();
    const { policy } = this.parts.inForce();
    const { velocity } = this.parts;
    const explained = await this.scanned((options) => explain(policy, request, velocity.look, options));
    const { trace, traceTotal: trace_total } = explained;
    return { ...this.report('explain', explained.decision, startedMs), trace, trace_total };
  }

  listSnapshots(): Promise<string[]> {
    return Promise.resolve(this.parts.history.list());
  }

  async checkOutput(request: OutputCheckRequest): Promise<OutputVerdict> {
    const { policy, scanner } = this.parts.inForce();
    return checkOutput(policy, request, {
      scan: (question) => scanner.ofOutput(question),
      onError: (what, error) => this.parts.events.failed(what, error),
    });
  }

  ready(): Readiness {
    return this.closed ? { ok: false, reason: 'the kernel is closed' } : { ok: true };
  }

  breakers(): Promise<BreakerStatuses> {
    return Promise.resolve({ input: alwaysClosed, output: alwaysClosed });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.parts.close();
  }

  private tried({ candidate }: PolicyTrial): Policy {
    const { policy } = this.parts.inForce();
    if (!candidate) return policy;
    const merged = this.trials.policyWith(policy, candidate);
    if (merged.ok) return merged.policy;
    const violations = merged.problems.map(({ message }) => ({ in: 'body', field: 'content', path: '', message }));
    throw new AppError('invalid_body', { violations });
  }

  private async decide(method: Method, request: PolicyRequest, velocity: Counter): Promise<PolicyDecision> {
    const { cache, nowMs } = this.parts;
    const startedMs = nowMs();
    const { policy } = this.parts.inForce();
    const key = cache.buildKey(policy, request);
    const known = key === undefined ? undefined : cache.get(key, request.job_id);
    if (known) return this.report(method, known, startedMs);
    const counter = askedOnce(velocity);
    const decision = await this.scanned((options) => decideAsync(policy, request, counter, options));
    if (key !== undefined) cache.put(key, decision);
    return this.report(method, decision, startedMs);
  }

  private scanned<T>(evaluate: (options: EvaluationOptions) => Promise<T>): Promise<T> {
    const { velocityFailMode, events } = this.parts;
    const { scanner } = this.parts.inForce();
    const onError = (error: unknown) => events.failed('evaluation', error);
    return withInputScan(
      (scanContent) => evaluate({ velocityFailMode, scanContent, onError }),
      (question) => scanner.ofInput(question),
      (error) => events.failed('scan', error),
    );
  }

  private report(method: Method, decision: PolicyDecision, startedMs: number): PolicyDecision {
    const { events, nowMs } = this.parts;
    events.decided(method, decision.decision, nowMs() - startedMs);
    if (decision.rule_id === '') events.defaulted(decision.decision);
    return decision;
  }
}

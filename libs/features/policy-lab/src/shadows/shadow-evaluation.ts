import type { ShadowDiff } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import type { PolicyDecision, Verdict } from '@svc/policy';
import type { ShadowResult, Store } from '@svc/store';
import { answerWithin, type LiveDecision, type ShadowReporter } from '@svc/decision';
import { type Shadow, ShadowCache } from './shadow-cache';
import { type Dropped, Lane } from './shadow-lane';
import { compareDecisions, severities } from './shadow-maths';
import { ShadowResultsWriter } from './shadow-results-writer';

export interface ShadowEvents {
  waiting(count: number): void;
  dropped(reason: Dropped, count: number): void;
  evaluated(decision: Verdict | 'UNAVAILABLE', diff: ShadowDiff | 'none', tookMs: number): void;
  /** A shadow could not be evaluated, its results not be stored, or the shadows not be read. */
  failed(what: 'evaluation' | 'results' | 'list', error: unknown): void;
}

export interface ShadowEvaluationParts {
  store: Pick<Store, 'shadows' | 'shadowResults'>;
  kernel: Pick<Kernel, 'simulate'>;
  events: ShadowEvents;
  /** Monotonic clock. */
  monotonicMs(): number;
}

interface QueuedDecision extends LiveDecision {
  tenant: string;
  /** The tenant's shadows; undefined before the first read. */
  shadows: readonly Shadow[] | undefined;
}
interface ShadowTask extends QueuedDecision {
  shadow: Shadow;
}

const laneLimits = { atOnce: 64, maxWaiting: 1_000, maxWeight: 64 * 1_024 * 1_024 };
const evaluationMs = 30_000;
const closeMs = { evaluations: 3_000, results: 2_000 };

/**
 * Evaluates live decisions again with each shadow policy of their tenant, and records the differences. Counts no
 * velocity and has no effect but the results. The kernel compiles a shadow once per policy in effect.
 * See docs/reference/policy.md#shadow-policies.
 */
export class ShadowEvaluation implements ShadowReporter {
  private readonly cache: ShadowCache;
  private readonly lane: Lane<QueuedDecision>;
  private readonly writer: ShadowResultsWriter;

  constructor(private readonly parts: ShadowEvaluationParts) {
    const { store, events } = parts;
    const dropped = (reason: Dropped, count: number) => events.dropped(reason, count);
    this.cache = new ShadowCache(store);
    this.lane = new Lane((queued) => this.evaluateAll(queued), laneLimits, {
      waiting: (n) => events.waiting(n),
      dropped,
    });
    this.writer = new ShadowResultsWriter(store, { dropped, failed: (error) => events.failed('results', error) });
  }

  decided({ request, decision }: LiveDecision): void {
    const { tenant = '' } = request;
    const shadows = this.cache.of(tenant);
    // Decisions made before the first read are queued until then.
    if (!shadows && this.cache.isRead) return;
    this.lane.offer({ request, decision, tenant, shadows }, request.input_content?.length ?? 0);
  }

  /** Reloads the shadows of all tenants. */
  async refresh(): Promise<void> {
    await this.cache.refresh().catch((error: unknown) => this.parts.events.failed('list', error));
  }

  /** Completes queued evaluations, within a few seconds. */
  async close(): Promise<void> {
    await this.lane.close(closeMs.evaluations);
    await this.writer.close(closeMs.results);
  }

  /** In sequence, so that there are never more evaluations at once than decisions under way. */
  private async evaluateAll(queued: QueuedDecision): Promise<void> {
    if (!queued.shadows) await this.cache.ready;
    for (const shadow of queued.shadows ?? this.cache.of(queued.tenant) ?? [])
      await this.evaluate({ ...queued, shadow });
  }

  private async evaluate(asked: ShadowTask): Promise<void> {
    const { kernel, events, monotonicMs } = this.parts;
    const { request, decision: active, tenant, shadow } = asked;
    const startedMs = monotonicMs();
    const { candidate } = shadow;
    const verdict = await answerWithin(async () => kernel.simulate(request, { candidate }), evaluationMs);
    const tookMs = monotonicMs() - startedMs;
    if (verdict.kind === 'unavailable') {
      events.evaluated('UNAVAILABLE', 'none', tookMs);
      return events.failed('evaluation', verdict.error);
    }
    const diff = compareDecisions(active, verdict.decision);
    events.evaluated(verdict.decision.decision, diff, tookMs);
    this.writer.add(tenant, buildResult(asked, verdict.decision, { diff, tookMs }));
  }
}

function buildResult(
  { request, decision: active, shadow: { candidate, shadowBundleId } }: ShadowTask,
  shadow: PolicyDecision,
  { diff, tookMs }: { diff: ShadowDiff; tookMs: number },
): ShadowResult {
  return {
    job_id: request.job_id ?? '',
    agent_id: request.labels?.['agent_id'] ?? '',
    severity: severities[diff],
    bundle_id: candidate.id,
    shadow_bundle_id: shadowBundleId,
    active_verdict: active.decision,
    shadow_verdict: shadow.decision,
    diff,
    active_rule_id: active.rule_id,
    shadow_rule_id: shadow.rule_id,
    latency_ms: String(Math.round(tookMs * 1_000) / 1_000),
  };
}

import { canonicalJson } from '@svc/json';
import type { Policy, PolicyDecision, PolicyRequest } from '@svc/policy';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';

export interface DecisionCacheSettings {
  /** 0 disables the cache. */
  ttlMs: number;
  maxSize: number;
}

/** Cached decisions; the least recently used are evicted. See docs/reference/policy.md#decision-cache. */
export class DecisionCache {
  private readonly decisions: LRUCache<string, { decision: PolicyDecision; untilMs: number }>;

  constructor(
    private readonly settings: DecisionCacheSettings,
    private readonly nowMs: () => number,
  ) {
    this.decisions = new LRUCache({ max: settings.maxSize });
  }

  /** The key of a request; undefined when its decision must not be cached. */
  buildKey(policy: Policy, request: PolicyRequest): string | undefined {
    if (this.settings.ttlMs <= 0 || policy.hasVelocityRules || request.action !== undefined) return undefined;
    if (policy.inputRules.length > 0 && request.input_content !== undefined) return undefined;
    // Only velocity rules use `prior_permit`.
    const { job_id: _, prior_permit: __, input_content: content, ...rest } = request;
    const text = content === undefined ? '' : typeof content === 'string' ? content : Buffer.from(content);
    const hash = createHash('sha256').update(canonicalJson(rest)).update('\0').update(text).digest('hex');
    return `${policy.snapshot} ${hash}`;
  }

  get(key: string, jobId: string | undefined): PolicyDecision | undefined {
    const found = this.decisions.get(key);
    if (!found || found.untilMs <= this.nowMs()) return undefined;
    return forJob(found.decision, jobId);
  }

  put(key: string, decision: PolicyDecision): void {
    this.decisions.set(key, { decision, untilMs: this.nowMs() + this.settings.ttlMs });
  }

  clear(): void {
    this.decisions.clear();
  }
}

/** An approval is for one job, so its reference never comes from the cache. */
function forJob({ approval_ref: _, ...decision }: PolicyDecision, jobId: string | undefined): PolicyDecision {
  return { ...decision, ...(decision.approval_required && jobId && { approval_ref: jobId }) };
}

import type { ChainState, CoverageRaw, DenialRaw, GovernanceHealthView, LatencyRaw } from '@svc/contract';

/** The facts that the health of a tenant is computed from. */
export interface HealthFacts {
  denials: DenialRaw;
  latency: LatencyRaw;
  coverage: CoverageRaw;
  chain: ChainState;
}

const weight = 25;
/** Score of a factor without data. */
const unknownScore = 70;
/** Highest total while the chain is compromised. */
const compromisedScore = 55;
const chainScores: Readonly<Record<ChainState, number>> = { ok: 100, partial: 85, unavailable: 70, compromised: 0 };
const latencyMs = { best: 30_000, worst: 300_000 };
const worstDenialShare = 0.5;

/** The health of the governance of a tenant: the mean of four factors. See docs/reference/governance.md#health. */
export function scoreHealth({
  denials,
  latency,
  coverage,
  chain,
}: HealthFacts): Pick<GovernanceHealthView, 'score' | 'grade' | 'factors'> {
  // prettier-ignore
  const decisions = denials.allow + denials.deny + denials.require_approval + denials.other;
  const factors = {
    denial_rate: factor(decisions > 0 ? linear(denials.deny / decisions, 0, worstDenialShare) : undefined, denials),
    approval_latency_p95: factor(
      latency.p95_ms === null ? undefined : linear(latency.p95_ms, latencyMs.best, latencyMs.worst),
      latency,
    ),
    policy_coverage: factor(coverage.ratio === null ? undefined : coverage.ratio * 100, coverage),
    chain_integrity: { score: chainScores[chain], weight, raw: chain },
  };
  const all = Object.values(factors);
  const mean = all.reduce((sum, { score }) => sum + score * weight, 0) / (all.length * weight);
  const score = round(chain === 'compromised' ? Math.min(mean, compromisedScore) : mean);
  return { score, grade: toGrade(score), factors };
}

const factor = <Raw>(score: number | undefined, raw: Raw) =>
  score === undefined
    ? { score: unknownScore, weight, raw, notes: 'no data in the period' }
    : { score: round(score), weight, raw };

/** 100 at `best` and 0 at `worst`, linear in between. */
const linear = (value: number, best: number, worst: number): number =>
  Math.max(0, Math.min(100, (100 * (worst - value)) / (worst - best)));

const round = (score: number): number => Math.round(score * 10) / 10;

function toGrade(score: number): GovernanceHealthView['grade'] {
  if (score >= 90) return 'A';
  if (score >= 80) return 'B';
  if (score >= 70) return 'C';
  return score >= 60 ? 'D' : 'F';
}

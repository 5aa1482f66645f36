import { openOfflineKernel, type OutputCheckRequest, type Scanners } from '@svc/kernel-client';
import type { Policy, PolicyDecision, PolicyRequest } from '@svc/policy';
import { isDeepStrictEqual } from 'node:util';
import type { Case, InputCase, OutputCase } from './cases';

export interface CaseOutcome {
  name: string;
  /** The decision. */
  decision: string;
  rule: string;
  reason: string;
  /** Differences from the expected decision; empty when the case passes. */
  faults: string[];
}

/** Evaluates all cases with the kernel's code. */
export async function runCases(policy: Policy, scanners: Scanners, cases: readonly Case[]): Promise<CaseOutcome[]> {
  let counts: Readonly<Record<string, number>> = {};
  const errors: string[] = [];
  const kernel = openOfflineKernel({
    policy,
    scanners,
    count: ({ ruleId }) => counts[ruleId] ?? 1,
    onError: (what, error) => errors.push(`${what}: ${error instanceof Error ? error.message : String(error)}`),
  });
  const outcomes: CaseOutcome[] = [];
  try {
    for (const one of cases) {
      errors.length = 0;
      let outcome: CaseOutcome;
      if ('output' in one) outcome = outputOutcome(one, await kernel.checkOutput(outputRequest(one)));
      else {
        counts = one.counts ?? {};
        outcome = inputOutcome(one, await kernel.simulate(inputRequest(one)));
      }
      outcomes.push({ ...outcome, faults: [...outcome.faults, ...errors] });
    }
  } finally {
    await kernel.close();
  }
  return outcomes;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function inputRequest({ request: { content, ...request } }: InputCase): PolicyRequest {
  return { job_id: 'case', ...request, ...(content !== undefined && { input_content: asText(content) }) };
}

function outputRequest({ output }: OutputCase): OutputCheckRequest {
  const body = output.body === undefined ? undefined : Buffer.from(asText(output.body));
  return {
    job_id: 'case',
    topic: output.topic,
    tenant: output.tenant ?? '',
    labels: output.labels ?? {},
    result_ptr: '',
    artifact_ptrs: [],
    error_message: output.error_message ?? '',
    error_code: output.error_code ?? '',
    worker_id: '',
    execution_ms: 0,
    output_size_bytes: output.size ?? body?.length ?? 0,
    capabilities: output.capabilities ?? [],
    risk_tags: output.risk_tags ?? [],
    principal_id: '',
    pack_id: '',
    ...(body && { output_content: body }),
  };
}

function inputOutcome({ name, expect }: InputCase, decision: PolicyDecision): CaseOutcome {
  const made = { decision: decision.decision.toLowerCase(), rule: decision.rule_id, reason: decision.reason };
  const remediations = decision.remediations.map(({ id }) => id);
  return {
    name,
    ...made,
    faults: [
      ...differs('decision', expect.decision, made.decision),
      ...differs('rule', expect.rule, made.rule),
      ...(expect.reason !== undefined && !made.reason.includes(expect.reason)
        ? [`reason is ${JSON.stringify(made.reason)}, expected to contain ${JSON.stringify(expect.reason)}`]
        : []),
      ...(expect.constraints && !isPart(expect.constraints, decision.constraints)
        ? [
            `constraints are ${JSON.stringify(decision.constraints ?? {})}, expected to include ${JSON.stringify(expect.constraints)}`,
          ]
        : []),
      ...differs('remediations', expect.remediations, remediations),
      ...missing(expect.findings, decision.findings ?? []),
    ],
  };
}

function outputOutcome(
  { name, expect }: OutputCase,
  verdict: { decision: string; rule_id: string; reason: string; findings: readonly { type: string }[] },
): CaseOutcome {
  const made = { decision: verdict.decision.toLowerCase(), rule: verdict.rule_id, reason: verdict.reason };
  return {
    name,
    ...made,
    faults: [
      ...differs('decision', expect.decision, made.decision),
      ...differs('rule', expect.rule, made.rule),
      ...missing(expect.findings, verdict.findings),
    ],
  };
}

function differs(what: string, wanted: unknown, is: unknown): string[] {
  if (wanted === undefined || isDeepStrictEqual(wanted, is)) return [];
  return [`${what} is ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`];
}

function missing(wanted: readonly string[] | undefined, found: readonly { type: string }[]): string[] {
  const types = new Set(found.map(({ type }) => type));
  const gone = (wanted ?? []).filter((type) => !types.has(type));
  return gone.length === 0 ? [] : [`findings are ${JSON.stringify([...types])}, without ${gone.join(', ')}`];
}

/** Whether one value contains all of another. */
function isPart(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return isDeepStrictEqual(part, whole);
  if (typeof whole !== 'object' || whole === null) return false;
  return Object.entries(part).every(([key, value]) => isPart(value, (whole as Record<string, unknown>)[key]));
}

/** Ids of rules in effect that no case covers. */
export function uncovered(policy: Policy, outcomes: readonly CaseOutcome[]): { all: number; ids: string[] } {
  const reached = new Set(outcomes.map(({ rule }) => rule));
  const inForce = [
    ...policy.rules.map(({ rule }) => rule.id),
    ...policy.inputRules.filter(({ rule }) => rule.enabled).map(({ rule }) => rule.id),
    ...policy.outputRules.filter(({ rule }) => rule.enabled).map(({ rule }) => rule.id),
  ];
  const ids = [...new Set(inForce)];
  return { all: ids.length, ids: ids.filter((id) => !reached.has(id)) };
}

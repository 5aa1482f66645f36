import type { Handles, kernelMetrics, Logger } from '@svc/runtime';

/** A fault in a file, which an operator reads as `config/safety.yaml:12:3 rules[0].decision: …`. */
export interface FileProblem {
  source: string;
  line: number;
  column: number;
  path: string;
  message: string;
}

export const problemText = ({ source, line, column, path, message }: FileProblem): string =>
  `${source}:${line}:${column} ${path === '' ? '' : `${path}: `}${message}`;

export type LoadReport =
  | {
      kind: 'loaded';
      what: 'policy';
      snapshot: string;
      ignoredVelocityRules: readonly string[];
      unsigned: readonly string[];
    }
  | { kind: 'loaded'; what: 'scanners' }
  /** What was in force before stays in force; of scanners, at start, the built-in ones. */
  | { kind: 'refused'; what: 'policy' | 'scanners'; problems: readonly string[] };

/** What happens in a kernel, for metrics and logs. */
export interface KernelEvents {
  loaded(report: LoadReport): void;
  policyAge(seconds: number): void;
  decided(method: string, decision: string, tookMs: number): void;
  /** No rule matched. */
  defaulted(decision: string): void;
  velocityChecked(ruleId: string, result: 'within' | 'over' | 'unavailable', tookMs: number): void;
  /** Something failed and was answered for. */
  failed(what: 'velocity' | 'snapshots' | 'evaluation' | 'scan' | 'files' | 'breaker', error: unknown): void;
  breakerMoved(name: 'input' | 'output', state: string): void;
}

const quietMs = 10_000;
/** Faults of a refused file that are written out in its log line. */
const loggedFaults = 20;

/** Events as log lines and, where the process has them, metrics. */
export function kernelEvents(log: Logger, metrics?: Handles<typeof kernelMetrics>): KernelEvents {
  return {
    loaded(report) {
      if (report.what === 'policy') metrics?.policyLoads.inc({ result: report.kind === 'loaded' ? 'ok' : 'error' });
      if (report.kind === 'refused') {
        const kept = 'file is not used, the last good one or the built-in stands';
        const { what, problems } = report;
        // A file is refused as a whole: one line, however many faults it has.
        log.error(kept, { file: what, faults: problems.length, problems: problems.slice(0, loggedFaults) });
      } else if (report.what === 'scanners') {
        log.info('scanners are in force');
      } else {
        log.info('policy is in force', { policy_snapshot: report.snapshot });
        for (const rule of report.ignoredVelocityRules)
          log.warn('velocity rule is beyond the license and not in force', { rule_id: rule });
        for (const problem of report.unsigned) log.warn('bundle is in force without a good signature', { problem });
        metrics?.unsignedBundles.set(report.unsigned.length);
      }
    },
    policyAge: (seconds) => metrics?.policyAgeSeconds.set(seconds),
    decided(method, decision, tookMs) {
      metrics?.evaluations.inc({ method, decision });
      metrics?.evaluationSeconds.observe({ method, decision }, tookMs / 1_000);
    },
    defaulted: (decision) => metrics?.defaultDecisions.inc({ decision }),
    velocityChecked(ruleId, result, tookMs) {
      metrics?.velocityChecks.inc({ rule_id: ruleId, result });
      metrics?.velocityCheckSeconds.observe(tookMs / 1_000);
    },
    failed: (what, error) =>
      log.oncePer(`kernel:${what}`, quietMs).error('failed in the kernel', { part: what, error }),
    breakerMoved: (name, state) => log.warn('circuit breaker moved', { breaker: name, state }),
  };
}

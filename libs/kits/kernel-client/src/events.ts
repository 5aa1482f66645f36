import type { Handles, kernelMetrics, Logger } from '@svc/runtime';

/** A problem in a file, printed as `config/safety.yaml:12:3 rules[0].decision: …`. */
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
  /** The previous version stays in effect; for scanners at startup, the built-in ones. */
  | { kind: 'refused'; what: 'policy' | 'scanners'; problems: readonly string[] };

/** Kernel events, for metrics and logs. */
export interface KernelEvents {
  loaded(report: LoadReport): void;
  policyAge(seconds: number): void;
  decided(method: string, decision: string, tookMs: number): void;
  /** No rule matched. */
  defaulted(decision: string): void;
  velocityChecked(ruleId: string, result: 'within' | 'over' | 'unavailable', tookMs: number): void;
  /** A failure that was handled by the fail mode. */
  failed(what: 'velocity' | 'snapshots' | 'evaluation' | 'scan' | 'files' | 'breaker', error: unknown): void;
  breakerMoved(name: 'input' | 'output', state: string): void;
}

const quietMs = 10_000;
/** Maximum problems of a rejected file in its log line. */
const loggedFaults = 20;

/** Events as log lines and, where the process has them, metrics. */
export function kernelEvents(log: Logger, metrics?: Handles<typeof kernelMetrics>): KernelEvents {
  return {
    loaded(report) {
      if (report.what === 'policy') metrics?.policyLoads.inc({ result: report.kind === 'loaded' ? 'ok' : 'error' });
      if (report.kind === 'refused') {
        const kept = 'invalid file ignored; the last valid one or the built-in stays in effect';
        const { what, problems } = report;
        // A file is rejected as a whole, in one line.
        log.error(kept, { file: what, faults: problems.length, problems: problems.slice(0, loggedFaults) });
      } else if (report.what === 'scanners') {
        log.info('scanners loaded');
      } else {
        log.info('policy loaded', { policy_snapshot: report.snapshot });
        for (const rule of report.ignoredVelocityRules)
          log.warn('velocity rule exceeds the license and is ignored', { rule_id: rule });
        for (const problem of report.unsigned) log.warn('bundle loaded without a valid signature', { problem });
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
      log.oncePer(`kernel:${what}`, quietMs).error('kernel operation failed', { part: what, error }),
    breakerMoved: (name, state) => log.warn('circuit breaker changed state', { breaker: name, state }),
  };
}

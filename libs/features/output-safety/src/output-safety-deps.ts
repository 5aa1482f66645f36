import type { Kernel } from '@svc/kernel-client';
import type { EffectiveConfig } from '@svc/settings';
import type { MoveDeps } from '@svc/jobs';

/** Dependencies of the checks of results, before and after their release. */
export interface OutputSafetyDeps extends MoveDeps {
  kernel: Kernel;
  config: EffectiveConfig;
  events: MoveDeps['events'] & {
    outputChecked(topic: string, phase: 'sync' | 'async', decision: string, tookMs: number): void;
    outputSkipped(topic: string, error: unknown): void;
    /** Output policy answered one question; a result takes several when it is long. */
    outputEvaluated(topic: string, decision: string, tookMs: number): void;
    /** The content of a result could not be checked in time. */
    outputLate(topic: string): void;
    /** A scan failed in this process and is left to its queue entry. */
    scanDeferred(jobId: string, error: unknown): void;
  };
  settings: MoveDeps['settings'] & {
    outputPolicyEnabled: boolean;
    outputFailMode: 'closed' | 'open';
    outputMetaTimeoutMs: number;
  };
}

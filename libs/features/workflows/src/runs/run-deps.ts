import type { RunEnd } from '@svc/lifecycle';
import type { Kernel } from '@svc/kernel-client';
import type { ExpressionLimits } from '@svc/workflow';
import type { Admission } from '@svc/admission';
import type { Base, Fleet, JobBus } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import type { ShadowReporter } from '@svc/decision';
import type { NewJobPlacement } from '@svc/jobs';
import type { SchemaCache, TopicDeps } from '@svc/registry';
import type { DefinitionCache } from './definition-cache';
import type { RunCache } from './run-cache';

/** Run events for logs and metrics. */
export interface RunEvents {
  passed(events: number, tookMs: number): void;
  stepEnded(type: string, status: string): void;
  ended(workflowId: string, status: RunEnd, tookMs: number): void;
  timerFired(lateMs: number): void;
  /** A pass was aborted: another process owns the run. */
  fenced(runId: string): void;
  /** An action of a pass failed and will be retried. */
  postponed(runId: string, what: string, error: unknown): void;
  /** A run without a queue entry was requeued. */
  repaired(runId: string): void;
  /** A gate expired before its rule was met. */
  gateExpired(): void;
}

/** Dependencies for planning a turn of a run and preparing its jobs, here and in the gateway. */
export interface TurnDeps extends Base {
  config: EffectiveConfig;
  admission: Admission;
  kernel: Kernel;
  shadows: ShadowReporter;
  fleet: Fleet;
  topics: TopicDeps;
  /** Absent: the jobs of steps go to the queue of undecided jobs. */
  placement?: NewJobPlacement | undefined;
  schemas: SchemaCache;
  settings: TurnSettings;
}
export interface TurnSettings {
  maxItems: number;
  expressions: ExpressionLimits;
  approvalTtlMs: number;
  deadLetterTtlSec: number;
}

/** Dependencies for starting runs, here and in the gateway. */
export interface StartRunDeps extends Base {
  config: EffectiveConfig;
  admission: Admission;
  definitions: DefinitionCache;
  settings: StartSettings;
  /** Absent: an engine takes the first turn of a new run. */
  firstTurn?: TurnDeps | undefined;
  /**
   * Limit of the license in effect, over all tenants; 0 and -1 = unlimited. Child runs are exempt.
   * See docs/operations.md#license.
   */
  maxActiveRuns?(): number;
}
export interface StartSettings {
  idempotencyTtlSec: number;
}

/** Dependencies of run passes: one object, built once in main. */
export interface RunDeps extends StartRunDeps, TurnDeps {
  bus: JobBus;
  senderId: string;
  memory: RunCache;
  events: RunEvents;
  onPublishFailed(jobId: string, error: unknown): void;
  /** Publishes the ends of jobs that the limits of a new one cancelled. */
  onCancelled(ids: readonly string[]): void;
  settings: StartSettings &
    TurnSettings & {
      /** Part of the owner of run locks. */
      instanceId: string;
      /** Lock TTL: time until the run of a crashed engine can be taken over. */
      lockMs: number;
      /** Retention of ended runs. */
      keepSec: number;
    };
}

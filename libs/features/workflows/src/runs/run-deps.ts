import type { RunEnd } from '@svc/lifecycle';
import type { Kernel } from '@svc/kernel-client';
import type { ExpressionLimits } from '@svc/workflow';
import type { Admission } from '@svc/admission';
import type { Base, Fleet, JobBus } from '@svc/platform';
import type { EffectiveConfig } from '@svc/settings';
import type { Shadows } from '@svc/decision';
import type { SchemaBook, TopicDeps } from '@svc/registry';
import type { DefinitionBook } from './definition-book';
import type { RunMemory } from './run-memory';

/** What happened to runs, for logs and metrics. */
export interface RunEvents {
  passed(events: number, tookMs: number): void;
  stepEnded(type: string, status: string): void;
  ended(workflowId: string, status: RunEnd, tookMs: number): void;
  timerFired(lateMs: number): void;
  /** A pass must stop: another process has the run. */
  fenced(runId: string): void;
  /** What a pass asked for could not be done yet; it is tried again. */
  postponed(runId: string, what: string, error: unknown): void;
  /** A run had no queue entry that would bring it to an engine. */
  mended(runId: string): void;
  /** A gate ended because its rule was not met in time. */
  gateExpired(): void;
}

/** What starting runs needs, here and in the gateway. */
export interface StartRunDeps extends Base {
  config: EffectiveConfig;
  admission: Admission;
  settings: StartSettings;
  /**
   * Of the license in force, over all tenants; 0 and -1 = any number. Child runs are let in.
   * See docs/operations.md#license.
   */
  maxActiveRuns?(): number;
}
export interface StartSettings {
  idempotencyTtlSec: number;
}

/** What passes over runs need: one object, built once in main. */
export interface RunDeps extends StartRunDeps {
  bus: JobBus;
  senderId: string;
  kernel: Kernel;
  shadows: Shadows;
  fleet: Fleet;
  topics: Pick<TopicDeps, 'registry'>;
  schemas: SchemaBook;
  definitions: DefinitionBook;
  memory: RunMemory;
  events: RunEvents;
  onPublishFailed(jobId: string, error: unknown): void;
  settings: StartSettings & {
    /** Part of the owner of run locks. */
    instanceId: string;
    /** How long a run stays with an engine that died. */
    lockMs: number;
    maxItems: number;
    expressions: ExpressionLimits;
    /** How long a run is kept after its end. */
    keepSec: number;
    approvalTtlMs: number;
    deadLetterTtlSec: number;
  };
}

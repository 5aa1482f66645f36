import type { Admission } from '@svc/admission';
import { everyTenant, type Caller } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import type { Base } from '@svc/platform';
import type { PolicyReadDeps } from '@svc/policy-admin';
import type { QuestionDeps } from '@svc/policy-lab';
import type { DatasetRepository } from './dataset.repository';
import type { EvalRunRepository } from './run.repository';

/** Dependencies of evaluating a run, in the gateway and the engine. */
export interface ExecuteDeps extends QuestionDeps {
  datasets: DatasetRepository;
  evalRuns: EvalRunRepository;
  kernel: Pick<Kernel, 'simulate'>;
  clock: Base['clock'];
  random: Pick<Base['random'], 'uuid'>;
}

/** Dependencies of the routes. */
export interface EvalDeps extends ExecuteDeps, Pick<PolicyReadDeps, 'defaultTenant'> {
  store: PolicyReadDeps['store'];
  admission: Admission;
  /** SAFETY_POLICY_MAX_BYTES. */
  maxContentBytes: number;
}

/** Whether a caller may see a record of a tenant. */
export const isVisible = ({ scope }: Pick<Caller, 'scope'>, tenant: string): boolean =>
  scope === everyTenant || scope === tenant;

/** RFC 3339 text of µs. */
export const toInstant = (us: number): string => new Date(Math.floor(us / 1_000)).toISOString();

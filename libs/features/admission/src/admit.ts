/** Jobs that have not ended, and the bytes of their inputs. */
export interface Usage {
  jobs: number;
  bytes: number;
}

/** Current usage that a submission is checked against. */
export interface Load {
  tenant: Usage;
  all: Usage;
  memory: {
    usedBytes: number;
    /** Memory use at which Redis rejects writes; 0 = unknown. */
    limitBytes: number;
  };
}

/** Limits on new work; 0 = no limit. */
export interface AdmissionLimits {
  jobs: number;
  bytes: number;
  tenantJobs: number;
  tenantBytes: number;
  /** Share of the memory limit that new work may fill; the rest is reserved for work in progress. */
  memoryPercent: number;
}

export type AdmissionDecision =
  | { kind: 'admitted' }
  | { kind: 'tenant_full'; of: 'jobs' | 'bytes'; current: number; limit: number }
  | { kind: 'full'; of: 'jobs' | 'bytes' | 'memory' };

/** Memory of a job without its input: record, history, indexes and queue entry. A test verifies it. */
export const jobOverheadBytes = 4_096;

/**
 * Whether there is room for one more job. The tenant's own limits come first, so that its error does
 * not name a shared limit.
 *
 * @param bytes of the job's input
 */
export function admit(load: Load, limits: AdmissionLimits, bytes: number): AdmissionDecision {
  const { tenant, all } = load;
  if (isOver(tenant.jobs + 1, limits.tenantJobs)) {
    return { kind: 'tenant_full', of: 'jobs', current: tenant.jobs, limit: limits.tenantJobs };
  }
  if (isOver(tenant.bytes + bytes, limits.tenantBytes)) {
    return { kind: 'tenant_full', of: 'bytes', current: Math.round(tenant.bytes), limit: limits.tenantBytes };
  }
  if (isOver(all.jobs + 1, limits.jobs)) return { kind: 'full', of: 'jobs' };
  if (isOver(all.bytes + bytes, limits.bytes)) return { kind: 'full', of: 'bytes' };
  return hasMemory(load, limits, bytes + jobOverheadBytes) ? { kind: 'admitted' } : { kind: 'full', of: 'memory' };
}

/** Whether Redis has memory for this many bytes of new work. */
export function hasMemory(
  { memory }: Pick<Load, 'memory'>,
  { memoryPercent }: AdmissionLimits,
  bytes: number,
): boolean {
  if (memoryPercent === 0) return true;
  return !isOver(memory.usedBytes + bytes, (memory.limitBytes * memoryPercent) / 100);
}

const isOver = (value: number, limit: number): boolean => limit > 0 && value > limit;

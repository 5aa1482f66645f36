/** What is held: jobs that have not ended, and the bytes of their inputs. */
export interface Held {
  jobs: number;
  bytes: number;
}

/** What a submission is judged by. */
export interface Load {
  tenant: Held;
  all: Held;
  memory: {
    usedBytes: number;
    /** Where Redis begins to refuse writes; 0 = not known. */
    limitBytes: number;
  };
}

/** 0 = no limit, in each of them. */
export interface AdmissionLimits {
  jobs: number;
  bytes: number;
  tenantJobs: number;
  tenantBytes: number;
  /** Share of the memory limit that new work may fill; the rest is for work under way. */
  memoryPercent: number;
}

export type AdmissionVerdict =
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
export function admit(load: Load, limits: AdmissionLimits, bytes: number): AdmissionVerdict {
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

/** Whether Redis has memory for so many bytes that are no work under way. */
export function hasMemory(
  { memory }: Pick<Load, 'memory'>,
  { memoryPercent }: AdmissionLimits,
  bytes: number,
): boolean {
  if (memoryPercent === 0) return true;
  return !isOver(memory.usedBytes + bytes, (memory.limitBytes * memoryPercent) / 100);
}

const isOver = (value: number, limit: number): boolean => limit > 0 && value > limit;

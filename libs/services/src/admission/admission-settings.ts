import type { AdmissionSettings } from './admission';

/** As the environment of gateway and scheduler names them. */
export interface AdmissionEnv {
  maxPendingJobs: number;
  maxPendingBytes: number;
  maxPendingJobsPerTenant: number;
  maxPendingBytesPerTenant: number;
  admissionMemoryPercent: number;
  redisMemoryLimitBytes: number;
}

/** The limits of new work that the environment sets; 0 = none, in each of them. */
export const admissionSettings = (env: AdmissionEnv): AdmissionSettings => ({
  jobs: env.maxPendingJobs,
  bytes: env.maxPendingBytes,
  tenantJobs: env.maxPendingJobsPerTenant,
  tenantBytes: env.maxPendingBytesPerTenant,
  memoryPercent: env.admissionMemoryPercent,
  memoryLimitBytes: env.redisMemoryLimitBytes,
});

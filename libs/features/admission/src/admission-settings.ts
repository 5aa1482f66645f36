import type { ApiEnv } from '@svc/runtime';
import type { AdmissionSettings } from './admission';

/** Variables of the gateway, the scheduler and the engine alike. */
export type AdmissionEnv = Pick<
  ApiEnv,
  | 'maxPendingJobs'
  | 'maxPendingBytes'
  | 'maxPendingJobsPerTenant'
  | 'maxPendingBytesPerTenant'
  | 'admissionMemoryPercent'
  | 'redisMemoryLimitBytes'
>;

/** The limits of new work that the environment sets; 0 = none, in each of them. */
export const admissionSettings = (env: AdmissionEnv): AdmissionSettings => ({
  jobs: env.maxPendingJobs,
  bytes: env.maxPendingBytes,
  tenantJobs: env.maxPendingJobsPerTenant,
  tenantBytes: env.maxPendingBytesPerTenant,
  memoryPercent: env.admissionMemoryPercent,
  memoryLimitBytes: env.redisMemoryLimitBytes,
});

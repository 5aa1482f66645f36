import { variables } from './declare';

/** Limits of admission control. See docs/durability.md, "Memory". */
export const admissionVariables = variables({
  admissionMemoryPercent: {
    name: 'SVC_ADMISSION_MEMORY_PERCENT',
    type: 'int',
    min: 0,
    max: 95,
    default: '75',
    doc: 'Percentage of Redis maxmemory above which new work is rejected; the rest is reserved for accepted work. 0 = no limit.',
  },
  maxPendingJobs: {
    name: 'SVC_MAX_PENDING_JOBS',
    type: 'int',
    min: 0,
    default: '1000000',
    doc: 'Maximum jobs that have not ended, across all tenants. 0 = no limit.',
  },
  maxPendingJobsPerTenant: {
    name: 'SVC_MAX_PENDING_JOBS_PER_TENANT',
    type: 'int',
    min: 0,
    default: '500000',
    doc: 'Maximum jobs that have not ended, per tenant. 0 = no limit.',
  },
  maxPendingBytes: {
    name: 'SVC_MAX_PENDING_BYTES',
    type: 'int',
    min: 0,
    default: '0',
    doc: 'Maximum input bytes of jobs that have not ended, estimated from a sample per tenant. 0 = no limit.',
  },
  maxPendingBytesPerTenant: {
    name: 'SVC_MAX_PENDING_BYTES_PER_TENANT',
    type: 'int',
    min: 0,
    default: '0',
    doc: 'Maximum input bytes of jobs that have not ended, per tenant. 0 = no limit.',
  },
});

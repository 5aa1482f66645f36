import { variables } from './declare';

/** When the gateway stops letting work in. docs/durability.md, "Memory". */
export const admissionVariables = variables({
  admissionMemoryPercent: {
    name: 'SVC_ADMISSION_MEMORY_PERCENT',
    type: 'int',
    min: 0,
    max: 95,
    default: '75',
    doc: 'Share of Redis’ maxmemory that new work may fill; the rest is kept for work under way. 0 = not looked at.',
  },
  maxPendingJobs: {
    name: 'SVC_MAX_PENDING_JOBS',
    type: 'int',
    min: 0,
    default: '1000000',
    doc: 'Jobs that have not ended, of all tenants. 0 = no limit.',
  },
  maxPendingJobsPerTenant: {
    name: 'SVC_MAX_PENDING_JOBS_PER_TENANT',
    type: 'int',
    min: 0,
    default: '500000',
    doc: 'Jobs of one tenant that have not ended. 0 = no limit.',
  },
  maxPendingBytes: {
    name: 'SVC_MAX_PENDING_BYTES',
    type: 'int',
    min: 0,
    default: '0',
    doc: 'Bytes of the inputs of all jobs that have not ended, estimated from some of each tenant. 0 = no limit.',
  },
  maxPendingBytesPerTenant: {
    name: 'SVC_MAX_PENDING_BYTES_PER_TENANT',
    type: 'int',
    min: 0,
    default: '0',
    doc: 'The same for the jobs of one tenant. 0 = no limit.',
  },
});

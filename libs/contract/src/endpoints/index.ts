import { approvalEndpoints } from './approvals';
import { dataEndpoints } from './data';
import { dlqEndpoints } from './dlq';
import { fleetEndpoints } from './fleet';
import { jobEndpoints } from './jobs';
import { systemEndpoints } from './system';

export * from './approvals';
export * from './data';
export * from './dlq';
export * from './fleet';
export * from './jobs';
export * from './system';

/** Every HTTP endpoint of the gateway. */
export const endpoints = [
  ...jobEndpoints,
  ...approvalEndpoints,
  ...dlqEndpoints,
  ...dataEndpoints,
  ...fleetEndpoints,
  ...systemEndpoints,
] as const;

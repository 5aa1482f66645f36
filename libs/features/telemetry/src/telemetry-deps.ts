import type { License } from '@svc/identity';
import type { OutboundClient } from '@svc/outbound';
import type { Clock, Random } from '@svc/platform';
import type { Store } from '@svc/store';
import type { TelemetryRepository } from './telemetry.repository';

export interface TelemetryDeps {
  store: Store;
  repository: TelemetryRepository;
  clock: Clock;
  random: Pick<Random, 'hex'>;
  license: License;
  /** TENANT_ID: its admins run the installation. */
  defaultTenant: string;
  settings: {
    /** SVC_TELEMETRY_MODE. */
    mode: string;
    /** SVC_TELEMETRY_ENDPOINT; '' = none. */
    endpoint: string;
    version: string;
    userAuth: boolean;
    oidc: boolean;
    outputPolicy: boolean;
  };
  outbound: OutboundClient;
  /** Numbers of workflows, and of jobs and runs changed since a time (µs), of all tenants. */
  countWork(sinceUs: number): Promise<{ jobs: number; runs: number; workflows: number }>;
  countTopics(): Promise<number>;
}

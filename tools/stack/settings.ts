import { join, resolve } from 'node:path';
import type { LicensePlan } from './license';

export const repositoryRoot = resolve(__dirname, '../..');

/** Options of a stack, all with defaults. */
export interface StackOptions {
  /** Folder of data, certificates, keys and stack.json. Default `.svc`. */
  dataDir?: string;
  /** HTTPS and gRPC over TLS. Default true. */
  tls?: boolean;
  /** Runs the policy kernel as a separate process instead of inside the services. Default false. */
  kernel?: boolean;
  /** Default enterprise. */
  license?: LicensePlan;
  /** Prefers the well-known ports. Default true; false where several stacks may start at once. */
  usualPorts?: boolean;
  /** Builds the services first. Default true. */
  build?: boolean;
  /** Passed to the services, with precedence over generated variables. Default `process.env`. */
  env?: NodeJS.ProcessEnv;
  onLine?: (service: string, line: string) => void;
  /** Receives progress messages during start and stop. */
  onProgress?: (what: string) => void;
  /** Workers with credentials for the stores, by pool, in addition to the two of every pool. */
  workers?: Readonly<Record<string, readonly string[]>>;
  /** The services to run. Default: those of this repository. */
  services?: readonly ServicePlan[];
}

export interface ServicePlan {
  name: string;
  /** Order of start; services of one stage start together. They stop in the reverse order. */
  stage: number;
  /** JavaScript file to run, relative to the repository. */
  main: string;
  /** Variable with the listen address, and the preferred port. */
  ports: Readonly<Record<string, number>>;
  /** Variable with the address of /readyz. */
  readyAt: string;
  /** Serves HTTPS there when the stack has TLS. */
  readyOverTls?: boolean;
}

const main = (app: string) => join('dist/apps', app, 'main.js');

export const kernelService: ServicePlan = {
  name: 'kernel',
  stage: 1,
  main: main('kernel'),
  ports: { SAFETY_KERNEL_ADDR: 50051, SAFETY_KERNEL_ADMIN_ADDR: 9095 },
  readyAt: 'SAFETY_KERNEL_ADMIN_ADDR',
};

/** The services in the order in which they start. */
export const coreServices: readonly ServicePlan[] = [
  {
    name: 'scheduler',
    stage: 2,
    main: main('scheduler'),
    ports: { SCHEDULER_METRICS_ADDR: 9090 },
    readyAt: 'SCHEDULER_METRICS_ADDR',
  },
  {
    name: 'engine',
    stage: 2,
    main: main('engine'),
    ports: { WORKFLOW_ENGINE_HTTP_ADDR: 9093 },
    readyAt: 'WORKFLOW_ENGINE_HTTP_ADDR',
  },
  {
    name: 'api',
    stage: 3,
    main: main('api'),
    ports: { GATEWAY_HTTP_ADDR: 8081, GATEWAY_GRPC_ADDR: 8080, GATEWAY_METRICS_ADDR: 9092 },
    readyAt: 'GATEWAY_HTTP_ADDR',
    readyOverTls: true,
  },
];

export const listServices = (options: StackOptions): readonly ServicePlan[] =>
  options.services ?? [...(options.kernel ? [kernelService] : []), ...coreServices];

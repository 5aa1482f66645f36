import { grpcServices } from '@svc/contract';
import { startGrpcServer as startServer } from '@svc/grpc';
import type { MountOptions } from '@svc/http';
import type { ApiEnv, Boot } from '@svc/runtime';
import type { ApiContext } from '../context';
import type { GateOptions } from './admission';
import { getJobStatus } from './get-job-status';
import { submitJob } from './submit-job';
import { watchIntervals, watchJob, type WatchSettings } from './watch-job';

type GrpcBoot = Pick<Boot<ApiEnv>, 'env' | 'log' | 'health' | 'clock'>;
type GrpcOptions = GateOptions & Pick<MountOptions, 'asAppError'>;

export interface ApiGrpcServer {
  port: number;
  close(): Promise<void>;
}

const graceMs = 10_000;

/** Serves `svc.v1.SvcApi`, with the authentication and authorization of REST. See docs/reference/http.md#grpc. */
export async function startGrpcServer(
  boot: GrpcBoot,
  ctx: ApiContext,
  options: GrpcOptions,
  intervals: Omit<WatchSettings, 'maxStreamsPerTenant'> = watchIntervals,
): Promise<ApiGrpcServer> {
  const { env, log, health, clock } = boot;
  const { grpcTlsCert: cert, grpcTlsKey: key } = env;
  const watching = { ...intervals, maxStreamsPerTenant: env.grpcMaxStreamsPerTenant };
  const server = await startServer(
    {
      address: env.grpcAddr,
      ...(cert && key && { tls: { files: { cert, key }, minVersion: env.tlsMinVersion } }),
      connections: {
        keepaliveTimeMs: env.grpcKeepaliveTimeMs,
        keepaliveTimeoutMs: env.grpcKeepaliveTimeoutMs,
        maxConnectionAgeMs: env.grpcMaxConnectionAgeMs,
        maxConnectionAgeGraceMs: env.grpcMaxConnectionAgeGraceMs,
      },
      reflection: env.grpcReflection,
      services: {
        [grpcServices.gateway]: {
          SubmitJob: submitJob(ctx, options),
          GetJobStatus: getJobStatus(ctx, options),
          WatchJob: watchJob(ctx, options, watching, clock),
        },
      },
    },
    {
      health,
      clock,
      ...(options.asAppError && { asAppError: options.asAppError }),
      onDefect: (error, method) => log.error('defect', { error, endpoint: method }),
      onTlsError: (error) => log.error('certificate is invalid; keeping the previous one', { error }),
    },
  );
  return { port: server.port, close: () => server.close(graceMs) };
}

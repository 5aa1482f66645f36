export { formatAddress, isLoopback, metricsBinding, parseAddress, type Address } from './address';
export { certificateGauges } from './certificate-gauges';
export { readBuildInfo, type BuildInfo } from './build-info';
export { systemClock, type Clock } from './clock';
export { formatDuration, parseDuration } from './duration';
export * from './env';
export { Health, NotReady, type Check, type DependencyReport, type ProbeAnswer } from './health';
export { randomIds, type Ids } from './ids';
export * from './logger';
export * from './metrics';
export { startProbeServer, type ProbeServer } from './probe-server';
export { runService, type Boot, type Service } from './service/service';
export { DependencyUnavailable, StartError } from './service/start-error';
export {
  loadTls,
  tlsClientOptions,
  tlsServerOptions,
  watchTls,
  type TlsFiles,
  type TlsMaterial,
  type TlsVersion,
} from './tls';
export { TimeLimitError, withTimeout } from './with-timeout';

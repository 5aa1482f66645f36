export { breakSaving } from './break-saving';
export { monitorCommands, type CommandMonitor, type MonitoredCommand } from './command-monitor';
export { eventually, type Patience } from './eventually';
export { fuzzed, fuzzTimeoutMs, hostileJson, hostileText, mutatedBytes, nested } from './fuzz';
export { findProgram, requireProgram } from './find-program';
export { accepts, freePort, tryPort } from './free-port';
export { eachNastyDocument, hostileYaml } from './hostile-yaml';
export {
  launchService,
  startService,
  type LaunchedService,
  type RunningService,
  type ServiceName,
} from './start-service';
export { endChild, isRunning, spawnLeashed, type LeashOptions } from './leash';
export { History, linearized, type Linearized, type Model, type Operation } from './linearizable';
export { startNameServer, type NameAnswer, type NameServer } from './name-server';
export { startNats } from './nats-server';
export { person, type Person } from './person';
export { plainRequest } from './plain-request';
export { protoMessage } from './proto-message';
export { startRedis } from './redis-server';
export { selfSigned } from './self-signed';
export type { TestServer } from './server';
export { emptyRedis, emptyStreams, useServers, type Servers, type ServersOptions } from './use-servers';
export { describeWorkerRestrictions, type RestrictedWorker } from './worker-restrictions';

export { eventually, type Patience } from './eventually';
export { findProgram, requireProgram } from './find-program';
export { accepts, freePort, tryPort } from './free-port';
export { endChild, isRunning, spawnLeashed, type LeashOptions } from './leash';
export { startNats } from './nats-server';
export { startRedis } from './redis-server';
export { selfSigned } from './self-signed';
export type { TestServer } from './server';
export { emptyRedis, emptyStreams, useServers, type Servers, type ServersOptions } from './use-servers';

export { parseJson } from './body';
export { addressBucket, clientAddressBehind, proxyCheck, type ClientAddress } from './client-address';
export { originCheck, type OriginCheck } from './cors';
export { isForged } from './forgery';
export { authorize, isEntitled, mayCall, mayUse, type GateRules } from './gate';
export { ByteStream } from './byte-stream';
export { EventStream, type ServerSentEvent } from './event-stream';
export { answer, Answered, handlersFor, JsonText, type Call, type Route } from './handler';
export { requireHost } from './headers';
export { hostCheck, type HostCheck } from './hosts';
export { incomingFrom, getQuery, type Incoming } from './incoming';
export { routeFinder } from './find-route';
export { mount, type Surface } from './mount';
export type { MountOptions, RefusedRequest, Served } from './options';
export {
  cappedBy,
  rateLimiter,
  type RateLimit,
  type RateLimiter,
  type RateLimiterOptions,
  type RateVerdict,
} from './rate-limiter';
export type { RateWindow } from './rate-windows';
export { followCredential, getCredentials, isStillAllowed } from './serve-endpoint';
export { serveSwagger } from './swagger';
export { endpointCases, type CaseWorld, type EndpointCase } from './endpoint-cases';
export { openapi, type ApiInfo } from './openapi';
export { getClientAddress } from './exchange';
export { guessBucket, publicBucket } from './take-rate';
export { serve, type Listening, type ServeOptions } from './server';
export { checkNamedTenant, createValidator } from './validation';

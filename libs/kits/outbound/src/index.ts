export { createOutboundClient, type OutboundClient } from './client';
export { OutboundError, outboundReasons, type OutboundReason } from './outbound-error';
export type {
  OutboundMethod,
  OutboundRequest,
  OutboundResponse,
  OutboundSettings,
  OutboundTls,
  Resolve,
} from './settings';

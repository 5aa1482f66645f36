import { headers, type MsgHdrs } from 'nats';

/** W3C trace context in message headers. */
export interface Trace {
  traceparent: string;
  tracestate?: string;
}

/** Headers of a message; undefined without any. */
export function messageHeaders(
  trace: Trace | undefined,
  extra: Readonly<Record<string, string>> = {},
): MsgHdrs | undefined {
  const entries = Object.entries({ ...trace, ...extra });
  if (entries.length === 0) return undefined;
  const result = headers();
  for (const [name, value] of entries) result.set(name, value);
  return result;
}

export function parseTrace(from: MsgHdrs | undefined): Trace | undefined {
  const traceparent = from?.get('traceparent');
  if (!traceparent) return undefined;
  const tracestate = from?.get('tracestate');
  return { traceparent, ...(tracestate && { tracestate }) };
}

/** What a consumer replied to a message of a stream. */
export interface Receipt {
  stream: string;
  consumer: string;
  /** Position of the message in the stream. */
  streamSeq: number;
  /** No further delivery follows; false for a renewal, and for a refusal after which the message is delivered again. */
  isFinal: boolean;
}

const FINAL = ['', '+ACK', '+NXT', '+TERM'];

/**
 * Reads the reply subject of a message: `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>`,
 * with domain and account before the stream in the longer form of newer servers.
 */
export function parseReceipt(subject: string, body: string): Receipt | undefined {
  const tokens = subject.split('.');
  const first = tokens.length >= 11 ? 4 : 2;
  const [stream, consumer, , seq] = tokens.slice(first);
  const streamSeq = Number(seq);
  if (stream === undefined || consumer === undefined || !Number.isInteger(streamSeq)) return undefined;
  const [kind = ''] = body.split(' ');
  return { stream, consumer, streamSeq, isFinal: FINAL.includes(kind) };
}

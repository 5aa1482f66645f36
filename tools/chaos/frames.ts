/** One whole request of a client: what it is called in a crash point, and its bytes as they came. */
export interface Frame {
  /** Upper case; of a Redis command the name, of the bus the verb. */
  verb: string;
  /** Redis: the arguments after the name. Bus: the words after the verb on the control line. */
  args: readonly string[];
  bytes: Buffer;
}

/** Cuts a stream of client bytes into whole requests; what is not whole yet waits for the next bytes. */
export interface Cutter {
  push(bytes: Buffer): Frame[];
}

const crlf = Buffer.from('\r\n');
/** Longer arguments (scripts, documents) are named by their beginning only. */
const keptArgumentBytes = 200;

/** Requests of Redis clients: arrays of bulk strings. */
export const redisCutter = (): Cutter => cutter(readCommand);

/** What NATS clients send: control lines, of which PUB and HPUB are followed by a payload. */
export const natsCutter = (): Cutter => cutter(readNatsLine);

type Read = (buffer: Buffer) => Frame | undefined;

function cutter(read: Read): Cutter {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(bytes) {
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const frames: Frame[] = [];
      for (let frame = read(rest); frame; frame = read(rest)) {
        frames.push(frame);
        rest = rest.subarray(frame.bytes.length);
      }
      return frames;
    },
  };
}

function line(buffer: Buffer, from: number): { text: string; next: number } | undefined {
  const end = buffer.indexOf(crlf, from);
  return end < 0 ? undefined : { text: buffer.toString('latin1', from, end), next: end + 2 };
}

function readCommand(buffer: Buffer): Frame | undefined {
  const head = line(buffer, 0);
  if (!head) return undefined;
  if (!head.text.startsWith('*'))
    return { verb: head.text.toUpperCase(), args: [], bytes: buffer.subarray(0, head.next) };
  const parts: string[] = [];
  let at = head.next;
  for (let left = Number(head.text.slice(1)); left > 0; left--) {
    const size = line(buffer, at);
    if (!size) return undefined;
    const end = size.next + Number(size.text.slice(1));
    if (buffer.length < end + 2) return undefined;
    parts.push(buffer.toString('utf8', size.next, Math.min(end, size.next + keptArgumentBytes)));
    at = end + 2;
  }
  const [verb = '', ...args] = parts;
  return { verb: verb.toUpperCase(), args, bytes: buffer.subarray(0, at) };
}

function readNatsLine(buffer: Buffer): Frame | undefined {
  const head = line(buffer, 0);
  if (!head) return undefined;
  const [verb = '', ...args] = head.text.trim().split(/\s+/);
  const name = verb.toUpperCase();
  const hasPayload = name === 'PUB' || name === 'HPUB';
  const end = hasPayload ? head.next + Number(args.at(-1)) + 2 : head.next;
  return buffer.length < end ? undefined : { verb: name, args, bytes: buffer.subarray(0, end) };
}

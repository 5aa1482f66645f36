import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

/** Answer to a query: the addresses, possibly none, or a response code such as 2 (SERVFAIL) or 3 (NXDOMAIN). */
export type NameAnswer = readonly string[] | number;

export interface NameServer {
  /** `127.0.0.1:<port>`, the format that resolvers expect. */
  readonly address: string;
  /** Queries received, in order: the name and A or AAAA. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const types: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' };
const nameStart = 12;

/**
 * Starts a name server with scripted answers.
 *
 * @param answer receives the name and the number of earlier queries for the same name and type
 */
export async function startNameServer(answer: (name: string, nth: number) => NameAnswer): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port }) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    const question = `${name} ${types[type] ?? type}`;
    const nth = asked.filter((each) => each === question).length;
    asked.push(question);
    socket.send(reply(query, end + 4, type, answer(name, nth)), port);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((done) => socket.close(() => done())),
  };
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = nameStart;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), end: at + 1 };
}

/** Repeats the question; records refer to its name by a pointer. RFC 1035, 4.1. */
function reply(query: Buffer, end: number, type: number, answer: NameAnswer): Buffer {
  const family = types[type] === 'A' ? 4 : 6;
  const addresses = typeof answer === 'number' ? [] : answer.filter((address) => isIP(address) === family);
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 + (typeof answer === 'number' ? answer : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.fill(0, 8, nameStart);
  const records = addresses.map((address) => {
    const bytes = addressBytes(address);
    return Buffer.from([0xc0, nameStart, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
  });
  return Buffer.concat([head, ...records]);
}

function addressBytes(address: string): number[] {
  if (isIP(address) === 4) return address.split('.').map(Number);
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [left, right] = [read(head), read(tail)];
  const groups = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return groups.flatMap((group) => [group >> 8, group & 255]);
}

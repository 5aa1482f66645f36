import { createSocket, type Socket } from 'node:dgram';
import { openResolver, type Resolve } from './gates-dns';

/** A name server that knows a few names, and counts what it is asked. */
function nameServer() {
  const asked: string[] = [];
  const socket: Socket = createSocket('udp4');
  const answers: Record<string, { code: number; address?: number[] }> = {
    'a.example': { code: 0, address: [93, 184, 216, 34] },
    'broken.example': { code: 2 },
  };
  socket.on('message', (query, { port }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const isIpv4 = query.readUInt16BE(at + 1) === 1;
    const { code, address } = answers[labels.join('.')] ?? { code: 3 };
    asked.push(`${labels.join('.')} ${isIpv4 ? 'A' : 'AAAA'}`);
    const head = Buffer.from(query.subarray(0, at + 5));
    head.writeUInt16BE(0x8180 + code, 2);
    head.writeUInt16BE(address && isIpv4 ? 1 : 0, 6);
    head.fill(0, 8, 12);
    const record = address && isIpv4 ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]) : Buffer.alloc(0); // prettier-ignore
    socket.send(Buffer.concat([head, record]), port);
  });
  return { socket, asked };
}

describe('names that gates look up', () => {
  let server: ReturnType<typeof nameServer>;
  let nowMs = 0;
  let resolve: Resolve;
  beforeEach(async () => {
    server = nameServer();
    await new Promise<void>((done) => server.socket.bind(0, '127.0.0.1', done));
    nowMs = 0;
    resolve = openResolver(() => nowMs, [`127.0.0.1:${server.socket.address().port}`]);
  });
  afterEach(() => void server.socket.close());

  it('are told with their addresses, as absent, or as not to be found out', async () => {
    expect(await resolve('a.example')).toEqual({ kind: 'addresses', addresses: ['93.184.216.34'] });
    expect(await resolve('none.example')).toEqual({ kind: 'no_address' });
    expect(await resolve('broken.example')).toEqual({ kind: 'failed' });
  });

  it('are asked for once in 5 min, failures again at once', async () => {
    await resolve('a.example');
    await resolve('a.example');
    expect(server.asked).toHaveLength(2);

    nowMs = 300_000;
    await resolve('a.example');
    expect(server.asked).toHaveLength(4);

    await resolve('broken.example');
    const before = server.asked.length;
    await resolve('broken.example');
    expect(server.asked.length).toBeGreaterThan(before);
  });

  it('of more than 2048 the longest known is forgotten first', async () => {
    for (let i = 0; i < 2_049; i++) await resolve(`n${i}.example`);
    const before = server.asked.length;

    await resolve('n2048.example');
    expect(server.asked).toHaveLength(before);
    await resolve('n0.example');
    expect(server.asked).toHaveLength(before + 2);
  });
});

import { useApi } from '../api.testing';
import { identities } from '../identities.testing';
import { begin, exchange } from './wire-client.testing';

const key = `X-API-Key: ${identities.boss.key}\r\n`;
const head = `POST /api/v1/jobs HTTP/1.1\r\nHost: a\r\n${key}`;
const get = `GET /api/v1/jobs HTTP/1.1\r\nHost: a\r\n${key}`;
/** A smuggled request, which gets a response if the service splits the first one differently than its sender. */
const smuggled = `GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('malformed HTTP requests', () => {
  const api = useApi();

  it.each([
    ['both a length and chunks', `${head}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunks, then a length', `${head}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${smuggled}`],
    ['two lengths', `${head}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${smuggled}`],
    ['two lengths in one header', `${head}Content-Length: 2, 40\r\n\r\n{}${smuggled}`],
    ['a length that is no number', `${head}Content-Length: 2x\r\n\r\n{}${smuggled}`],
    ['a negative length', `${head}Content-Length: -2\r\n\r\n{}`],
    ['a length with a sign', `${head}Content-Length: +2\r\n\r\n{}`],
    ['a length beyond all', `${head}Content-Length: 99999999999999999999\r\n\r\n{}`],
    ['an unknown encoding', `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['an encoding after chunks', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['a chunk size that is none', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['a chunk longer than it says', `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{}{}\r\n0\r\n\r\n`],
    ['a space before a colon', `${get}X-A : b\r\n\r\n`],
    ['a header that is continued', `${get}X-A: b\r\n c\r\n\r\n`],
    ['NUL in a header', `${get}X-A: b\0c\r\n\r\n`],
    ['a carriage return in a header', `${get}X-A: b\rc\r\n\r\n`],
    ['lines that end in a line feed alone', `GET /api/v1/jobs HTTP/1.1\nHost: a\n${key.replace('\r', '')}\n`],
    ['two hosts', `${get}Host: b\r\n\r\n`],
    ['no host', `GET /api/v1/jobs HTTP/1.1\r\n${key}\r\n`],
    ['a header of 20 KB', `${get}X-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a path of 20 KB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['1,000 headers of 20 bytes', `${get}${'X-Header-Name: value\r\n'.repeat(1_000)}\r\n`],
    ['TRACE', `TRACE / HTTP/1.1\r\nHost: a\r\n${key}\r\n`],
    ['TRACE of a known path', `TRACE /api/v1/jobs HTTP/1.1\r\nHost: a\r\n${key}\r\n`],
    ['CONNECT', `CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['an unknown method', `BREW /api/v1/jobs HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['an unknown version', `GET /api/v1/jobs HTTP/9.9\r\nHost: a\r\n\r\n`],
    ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`],
    ['a TLS greeting', Buffer.from('160301020001000001fc0303', 'hex')],
    ['noise', Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 37) % 256))],
  ])('%s: rejected at most once, and never read as two requests', async (_what, bytes) => {
    const { text, isClosed } = await exchange(api.url, bytes);

    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
    if (statuses.length === 0) expect(isClosed).toBe(true);
    else expect(statuses).toEqual([expect.any(Number)]);
    for (const status of statuses) expect(Math.floor(status / 100)).toBe(4);
    expect((await api.as('user').get('/api/v1/jobs')).status).toBe(200);
  });

  it.each([
    ['a body that stops short', `${head}Content-Length: 100\r\n\r\n{"prompt":`],
    ['chunks that stop short', `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"pro`],
    ['headers that stop short', `${get}X-A: b`],
  ])('%s: other clients are served in the meantime, and its end is not a defect', async (_what, bytes) => {
    const unfinished = Array.from({ length: 50 }, () => begin(api.url, bytes));
    const others = await Promise.all(Array.from({ length: 20 }, () => api.as('user').get('/api/v1/jobs')));

    expect(others.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(unfinished.filter(({ bytesRead }) => bytesRead > 0)).toEqual([]);
    for (const socket of unfinished) socket.destroy();
    // Another round trip, after which the service has noticed.
    expect((await api.as('user').get('/api/v1/jobs')).status).toBe(200);
  });

  it('two valid requests on one connection get two responses', async () => {
    const { text } = await exchange(api.url, `${get}\r\n${get}\r\n`);

    expect([...text.matchAll(/HTTP\/1\.1 200/g)]).toHaveLength(2);
  });
});

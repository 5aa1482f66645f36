import { request } from 'node:http';
import { hostCheck } from './hosts';
import { startSurface } from './surface.fixture';

describe('accepted host names', () => {
  it.each([
    ['localhost', true],
    ['LOCALHOST:8081', true],
    ['app.localhost:8081', true],
    ['127.0.0.1:8081', true],
    ['203.0.113.9', true],
    ['[::1]:8081', true],
    ['[2001:db8::1]', true],
    ['gateway:8081', true],
    ['evil.example', false],
    ['evil.example:8081', false],
    ['evil.example.', false],
    ['localhost.evil.example', false],
    ['127.0.0.1.evil.example', false],
    ['[evil.example]', false],
    ['', false],
    ['a b', false],
  ])('none listed: %s %p', (host, allowed) => {
    expect(hostCheck([])(host)).toBe(allowed);
  });

  it.each([
    ['gate.example', true],
    ['Gate.Example.:443', true],
    ['sub.gate.example', false],
    ['gate.example.evil', false],
    ['gateway', false],
    ['localhost', true],
    ['10.0.0.1:8081', true],
  ])('gate.example listed: %s %p', (host, allowed) => {
    expect(hostCheck(['gate.example'])(host)).toBe(allowed);
  });

  it('400: another name, on every path, before any lookup', async () => {
    const api = await startSurface({ allowsHost: hostCheck([]) });
    const ask = (path: string, host: string) =>
      new Promise<number | undefined>((resolve) =>
        request({ port: api.port, path, headers: { Host: host, 'X-API-Key': 'admin' } }, (res) => {
          res.resume();
          resolve(res.statusCode);
        }).end(),
      );

    for (const path of ['/readyz', '/nothing', '/api/v1/notes/n1']) {
      expect([path, await ask(path, `evil.example:${api.port}`)]).toEqual([path, 400]);
    }
    expect(await ask('/readyz', `127.0.0.1:${api.port}`)).toBe(200);
    await api.close();
  });
});

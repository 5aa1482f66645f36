import { parseServerList } from './server-list';

describe('parseServerList', () => {
  it.each([
    ['nats://svc:pa%40ss%3A@host:4222', 'nats://host:4222', { user: 'svc', pass: 'pa@ss:' }],
    ['tls://svc:pw@[::1]:4222', 'tls://[::1]:4222', { user: 'svc', pass: 'pw' }],
    ['svc:pw@host:4222', 'host:4222', { user: 'svc', pass: 'pw' }],
    ['nats://svc:@host', 'nats://host', { user: 'svc', pass: '' }],
    ['nats://tok%20en@host', 'nats://host', { token: 'tok en' }],
    ['nats://svc:100%@host', 'nats://host', { user: 'svc', pass: '100%' }],
    ['nats://svc:a:b@c@host', 'nats://host', { user: 'svc', pass: 'a:b@c' }],
    ['127.0.0.1:4222', '127.0.0.1:4222', undefined],
    ['nats://host:4222', 'nats://host:4222', undefined],
  ])('takes the credentials out of %s', (url, server, credentials) => {
    expect(parseServerList(url)).toEqual({ servers: [server], credentials });
  });

  it('has one identity for several servers: the first', () => {
    expect(parseServerList('nats://a, nats://u:p@b ,nats://v:q@c')).toEqual({
      servers: ['nats://a', 'nats://b', 'nats://c'],
      credentials: { user: 'u', pass: 'p' },
    });
  });
});

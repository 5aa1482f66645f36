import { envSpec, commonVariables, readEnv } from '@svc/runtime';
import { busOptions } from './index';
import { connectionOptions } from './options';

const spec = envSpec({ service: 'test', variables: commonVariables, rules: [] });
const read = (env: Record<string, string>) => busOptions(readEnv(spec, env).values, 'gateway');

describe('busOptions', () => {
  it('has the defaults of the contract', () => {
    expect(read({})).toEqual({
      url: 'nats://localhost:4222',
      senderId: 'gateway',
      jetstream: true,
      ackWaitMs: 60_000,
      maxAgeMs: 604_800_000,
      replicas: 1,
      maxAckPending: 2_048,
      pingIntervalMs: 30_000,
      reconnectWaitMs: 2_000,
    });
  });

  it('prefers user and password to token to nkey', () => {
    const all = { NATS_USERNAME: 'u', NATS_PASSWORD: 'p', NATS_TOKEN: 't', NATS_NKEY: 'SU' };
    const { NATS_USERNAME: _u, NATS_PASSWORD: _p, ...token } = all;
    const { NATS_TOKEN: _t, ...nkey } = token;

    expect(read(all).auth).toEqual({ user: 'u', pass: 'p' });
    expect(read(token).auth).toEqual({ token: 't' });
    expect(read(nkey).auth).toEqual({ nkeySeed: 'SU' });
  });

  it('uses the credentials in the URL when no variable has any, and removes them from the address', () => {
    const url = { NATS_URL: 'nats://svc:p%40ss@a:1' };

    expect(connectionOptions(read(url))).toMatchObject({ servers: ['nats://a:1'], user: 'svc', pass: 'p@ss' });
    const options = connectionOptions(read({ ...url, NATS_USERNAME: 'u', NATS_PASSWORD: 'p' }));
    expect(options).toMatchObject({ servers: ['nats://a:1'], user: 'u', pass: 'p' });
    expect(connectionOptions(read({ ...url, NATS_TOKEN: 't' }))).not.toHaveProperty('user');
  });

  it('a tls address rejects a server without TLS', () => {
    expect(connectionOptions(read({ NATS_URL: 'tls://a:1' }))).toMatchObject({ servers: ['tls://a:1'], tls: {} });
    expect(connectionOptions(read({}))).not.toHaveProperty('tls');
    expect(connectionOptions(read({ NATS_TLS_SERVER_NAME: 'bus', NATS_TLS_INSECURE: 'true' }))).toMatchObject({
      tls: { servername: 'bus', rejectUnauthorized: false },
    });
  });
});

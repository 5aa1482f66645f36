import { busOptionsFromEnv } from './index';
import { connectionOptions } from './options';

const read = (env: Record<string, string>) => busOptionsFromEnv(env, 'gateway');

describe('busOptionsFromEnv', () => {
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

  it('reads durations and caps what may wait for acknowledgement', () => {
    const env = {
      NATS_JS_ACK_WAIT: '10m',
      NATS_JS_MAX_AGE: '1.5h',
      NATS_MAX_ACK_PENDING: '90000',
      NATS_USE_JETSTREAM: '0',
    };

    expect(read(env)).toMatchObject({
      ackWaitMs: 600_000,
      maxAgeMs: 5_400_000,
      maxAckPending: 50_000,
      jetstream: false,
    });
  });

  it('names the variable that cannot be read', () => {
    expect(() => read({ NATS_JS_ACK_WAIT: 'soon' })).toThrow('NATS_JS_ACK_WAIT');
    expect(() => read({ NATS_JS_REPLICAS: '1.5' })).toThrow('NATS_JS_REPLICAS');
    expect(() => read({ NATS_TLS_CERT: 'x' })).toThrow('NATS_TLS_KEY');
  });

  it('takes user and password before the token, the token before the nkey', () => {
    const nkey = { NATS_NKEY: 'SU' };
    const token = { ...nkey, NATS_TOKEN: 't' };

    expect(read({ ...token, NATS_USERNAME: 'u', NATS_PASSWORD: 'p' }).auth).toEqual({ user: 'u', pass: 'p' });
    expect(read(token).auth).toEqual({ token: 't' });
    expect(read(nkey).auth).toEqual({ nkeySeed: 'SU' });
  });

  it('a tls address refuses a server without TLS', () => {
    expect(connectionOptions(read({ NATS_URL: 'tls://a:1, tls://b:1' }))).toMatchObject({
      servers: ['tls://a:1', 'tls://b:1'],
      tls: {},
    });
    expect(connectionOptions(read({}))).not.toHaveProperty('tls');
    expect(connectionOptions(read({ NATS_TLS_SERVER_NAME: 'bus', NATS_TLS_INSECURE: 'true' }))).toMatchObject({
      tls: { servername: 'bus', rejectUnauthorized: false },
    });
  });
});

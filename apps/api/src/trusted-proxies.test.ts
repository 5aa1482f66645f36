import { grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { apiEnv, Health, readEnv, silentLogger, systemClock } from '@svc/runtime';
import { useApi, type UseApiOptions } from './api.testing';
import { startGrpcServer } from './grpc/server';

const counted: string[] = [];
const count = async (bucket: string) => {
  counted.push(bucket);
  return { allowed: true, headers: {} };
};
const mount: UseApiOptions['mount'] = { rateLimits: { api: count, open: count } };
const forwarded = '203.0.113.7, 198.51.100.4';

beforeEach(() => void counted.splice(0));

describe('SVC_TRUSTED_PROXIES names the peer', () => {
  const api = useApi({ env: { SVC_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' }, mount });

  it('REST: guesses and unknown paths count against the address that the proxy saw', async () => {
    await api.anonymous.get('/api/v1/jobs', { 'X-Forwarded-For': forwarded });
    await api.anonymous.get('/nothing', { 'X-Forwarded-For': `${forwarded}, 10.1.2.3` });
    await api.anonymous.get('/nothing', { 'X-Forwarded-For': '2001:db8::1' });

    expect(counted).toEqual(['ip:198.51.100.4', 'public:198.51.100.4', 'public:2001:db8:0:0::/64']);
  });

  it('gRPC: guesses count against the address that the proxy saw', async () => {
    const { values: env } = readEnv(apiEnv, { GATEWAY_GRPC_ADDR: '127.0.0.1:0' });
    const clock = systemClock();
    const boot = { env, log: silentLogger, health: new Health({ clock }), clock };
    const server = await startGrpcServer(boot, api.ctx, api.options);
    const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
    const method = serviceDefinition(grpcServices.gateway)['GetJobStatus'];
    if (!method) throw new Error('no such method');
    const metadata = new Metadata();
    metadata.set('x-forwarded-for', forwarded);

    await new Promise((resolve) =>
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        { job_id: 'j' },
        metadata,
        resolve,
      ),
    );

    expect(counted).toEqual(['ip:198.51.100.4']);
    client.close();
    await server.close();
  });
});

describe('SVC_TRUSTED_PROXIES is not set', () => {
  const api = useApi({ mount });

  it('the peer counts, whatever it says', async () => {
    await api.anonymous.get('/api/v1/jobs', { 'X-Forwarded-For': forwarded });

    expect(counted).toEqual(['ip:127.0.0.1']);
  });
});

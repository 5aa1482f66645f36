import { grpcServices } from '@svc/contract';
import { serviceDefinition } from '@svc/grpc';
import { apiEnv, Health, readEnv, silentLogger, systemClock } from '@svc/runtime';
import { eventually } from '@svc/testing';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { WebSocket } from 'ws';
import { useApi } from '../../api.testing';
import { startGrpcServer } from '../../grpc/server';
import { identities } from '../../identities.testing';

const wrong = 'a-key-that-was-guessed-0000001';

describe('refused credentials are events of the default tenant', () => {
  const api = useApi();
  const failures = async () => {
    const { body } = await api.as('admin').get('/api/v1/audit/events?event_type=system.auth&action=auth.failure');
    expect(JSON.stringify(body)).not.toContain(wrong);
    return body['items'] as { reason: string; extra: Record<string, string> }[];
  };
  const eventuallyRecorded = (expected: object) =>
    eventually(async () => expect(await failures()).toContainEqual(expect.objectContaining(expected)));

  it('of HTTP, by their kind', async () => {
    await api.anonymous.get('/api/v1/jobs/j-1', { 'X-API-Key': wrong });
    await api.anonymous.get('/api/v1/jobs', { Authorization: `Bearer ${wrong}` });
    await api.anonymous.get('/api/v1/jobs', { 'X-API-Key': identities.admin.key, 'X-Tenant-ID': 'globex' });

    const source = { source_ip: '127.0.0.1', method: 'GET', count: '1' };
    for (const [reason, auth_method, path] of [
      ['unauthorized', 'api_key', '/api/v1/jobs/:id'],
      ['unauthorized', 'jwt', '/api/v1/jobs'],
      ['tenant_access_denied', 'api_key', '/api/v1/jobs'],
    ]) {
      await eventuallyRecorded({
        severity: 'MEDIUM',
        decision: 'deny',
        reason,
        extra: expect.objectContaining({ ...source, auth_method, path }) as object,
      });
    }
  });

  it('of a WebSocket', async () => {
    const url = `${api.url.replace('http', 'ws')}/api/v1/stream`;
    const socket = new WebSocket(url, ['svc-api-key', Buffer.from(wrong).toString('base64url')]);
    await new Promise((resolve) => socket.once('error', resolve));

    await eventuallyRecorded({ extra: expect.objectContaining({ auth_method: 'web_socket_key' }) as object });
  });

  it('of gRPC', async () => {
    const { values: env } = readEnv(apiEnv, { GATEWAY_GRPC_ADDR: '127.0.0.1:0' });
    const clock = systemClock();
    const health = new Health({ clock });
    const server = await startGrpcServer({ env, log: silentLogger, health, clock }, api.ctx, api.options);
    const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('x-api-key', wrong);
    const method = serviceDefinition(grpcServices.gateway)['GetJobStatus'];
    if (!method) throw new Error('no method');
    const { path, requestSerialize, responseDeserialize } = method;
    await new Promise((resolve) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, metadata, resolve);
    });
    client.close();
    await server.close();

    await eventuallyRecorded({ extra: expect.objectContaining({ method: 'GRPC', auth_method: 'api_key' }) as object });
  });

  it('but not requests without credentials', async () => {
    const { status } = await api.anonymous.get('/api/v1/jobs');

    expect(status).toBe(401);
    expect(await failures()).toEqual([]);
  });
});

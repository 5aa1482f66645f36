import { createServer } from 'node:http';
import { envSpec, runService, startProbeServer, variables } from '../index';
import { commonRules, commonVariables } from '../env/common';

/** A minimal service that fails as `MODE` says. The test runs it as a child process. */
void runService({
  name: 'sample',
  purpose: 'shows how services start and stop',
  env: envSpec({
    service: 'sample',
    variables: {
      ...commonVariables,
      ...variables({
        mode: { name: 'MODE', type: 'string', default: 'well', doc: 'Kind of failure.' },
        addr: { name: 'ADDR', type: 'address', default: '127.0.0.1:0', listens: true, doc: 'Address to listen on.' },
        key: { name: 'KEY', type: 'string', secret: true, doc: 'A secret.' },
      }),
    },
    rules: [
      commonRules,
      ({ mode }) =>
        mode === 'forbidden' ? [{ name: 'MODE', given: mode, expected: 'another', fix: 'Change it.' }] : [],
    ],
  }),
  stopTimeoutMs: 50,
  hardStopMs: 300,
  async start({ env, log, health, onStop, stopping }) {
    const metrics = { contentType: 'text/plain', text: async () => '' };
    const probes = await startProbeServer({
      addr: env.addr,
      health,
      metrics,
      onError: (error) => log.error('probe failed', { error }),
    });
    stopping.addEventListener('abort', () => log.info('loops end'));
    onStop('probes', () => probes.close());
    onStop('first', () => log.info('step first'));
    if (env.mode === 'stuck-step') onStop('stuck', () => new Promise(() => undefined));
    if (env.mode === 'bad-step') onStop('bad', () => Promise.reject(new Error('step broke')));
    if (env.mode === 'many-stuck')
      for (let i = 0; i < 100; i++) onStop(`stuck ${i}`, () => new Promise(() => undefined));
    onStop('readiness', async () => log.info('step readiness', { ready: (await health.readyz()).status }));
    log.info('listening', { url: probes.url, reason: `key is ${env.key}` });
    if (env.mode === 'defect') throw new TypeError('start broke');
    if (env.mode === 'port-taken') await listenTwice(probes.address.port);
    if (env.mode === 'throws') setImmediate(() => { throw new Error('not caught'); }); // prettier-ignore
    if (env.mode === 'rejects') setImmediate(() => void Promise.reject(new Error('not awaited')));
  },
});

const listenTwice = (port: number) =>
  new Promise((resolve, reject) =>
    createServer()
      .once('error', reject)
      .listen(port, '127.0.0.1', () => resolve(undefined)),
  );

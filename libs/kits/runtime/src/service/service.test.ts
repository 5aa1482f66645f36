import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(__dirname, '../../../../..');
const folder = mkdtempSync(join(root, 'node_modules/.service-test-'));
const bundle = join(folder, 'sample.cjs');

beforeAll(async () => {
  const entryPoints = [join(__dirname, 'sample.fixture.ts')];
  await build({ entryPoints, outfile: bundle, bundle: true, platform: 'node', format: 'cjs', packages: 'external' });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the sample service as a process; `when` acts on it once it has logged a text. */
function run(env: NodeJS.ProcessEnv, args: string[] = []) {
  const child = spawn(process.execPath, [bundle, ...args], {
    env: { PATH: process.env.PATH, SVC_LOG_FORMAT: 'json', ...env },
  });
  let out = '';
  let err = '';
  const watchers: (() => void)[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    for (const look of watchers) look();
  });
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = new Promise<{ code: number | null; out: string; err: string; messages: unknown[] }>((done) =>
    child.once('close', (code) => done({ code, out, err, messages: messagesIn(out) })),
  );
  const logged = (text: string) => new Promise<void>((done) => watchers.push(() => out.includes(text) && done()));
  return { child, ended, logged, url: () => /"url":"([^"]+)"/.exec(out)?.[1] ?? '' };
}

const messagesIn = (out: string) =>
  out.split('\n').filter((line) => line.startsWith('{')).map((line) => (JSON.parse(line) as { msg: string }).msg); // prettier-ignore

async function stopWith(signal: NodeJS.Signals, env: NodeJS.ProcessEnv) {
  const service = run(env);
  await service.logged('"started"');
  service.child.kill(signal);
  return service.ended;
}

describe('a service', () => {
  it('starts and becomes ready; on SIGTERM it becomes unready, runs its stop steps in reverse order and exits 0', async () => {
    const service = run({ KEY: 'hunter2-key' });
    await service.logged('"started"');
    expect((await fetch(`${service.url()}/readyz`)).status).toBe(200);

    service.child.kill('SIGTERM');

    const { code, out, messages } = await service.ended;
    expect(code).toBe(0);
    expect(messages).toEqual([
      'listening',
      'started',
      'stopping',
      'loops end',
      'step readiness',
      'step first',
      'stopped',
    ]);
    expect(out).toContain('"ready":503');
    expect(out).not.toContain('hunter2');
  });

  it('warns when development rules are in effect on an address that other hosts can reach', async () => {
    const { out, messages } = await stopWith('SIGTERM', { ADDR: '0.0.0.0:0' });

    expect(messages[0]).toBe(
      'development rules are in effect on addresses that other machines can reach: ADDR=0.0.0.0:0',
    );
    expect(out).toContain('SVC_ENV=production');
  });

  it('stops on SIGINT too', async () => {
    expect((await stopWith('SIGINT', {})).code).toBe(0);
  });

  it.each(['stuck-step', 'bad-step'])('abandons a %s and runs the others', async (MODE) => {
    const { code, messages } = await stopWith('SIGTERM', { MODE });

    expect(code).toBe(0);
    expect(messages).toEqual([
      'listening',
      'started',
      'stopping',
      'loops end',
      'step readiness',
      'stop step failed',
      'step first',
      'stopped',
    ]);
  });

  it('exits 1 when stopping takes longer than the hard stop', async () => {
    const { code, messages } = await stopWith('SIGTERM', { MODE: 'many-stuck' });

    expect([code, messages.at(-1)]).toEqual([1, 'hard stop']);
  });

  it('exits immediately on a second signal', async () => {
    const service = run({ MODE: 'stuck-step' });
    await service.logged('"started"');

    service.child.kill('SIGTERM');
    await service.logged('step readiness');
    service.child.kill('SIGTERM');

    expect((await service.ended).code).toBe(130);
  });

  it.each([
    ['throws', 'uncaught exception', 'not caught'],
    ['rejects', 'unhandled rejection', 'not awaited'],
  ])('logs an uncaught error and exits 1: %s', async (MODE, msg, text) => {
    const { code, out, messages } = await run({ MODE }).ended;

    expect([code, messages.includes(msg)]).toEqual([1, true]);
    expect(out).toContain(text);
  });
});

describe('a failed start', () => {
  it('for an expected reason: prints the failure, its location and the fix, without a stack', async () => {
    const { code, err } = await run({ MODE: 'port-taken' }).ended;

    expect(code).toBe(1);
    expect(err).toMatch(/^sample: the address is in use: 127\.0\.0\.1:\d+\n {2}Stop the process that uses it.*\n$/);
  });

  it('for a defect: logs it with its stack, runs the stop steps, exits 1', async () => {
    const { code, out, messages } = await run({ MODE: 'defect' }).ended;

    expect(code).toBe(1);
    expect(messages).toEqual([
      'listening',
      'start failed',
      'stopping',
      'loops end',
      'step readiness',
      'step first',
      'stopped',
    ]);
    expect(out).toMatch(/"error":"TypeError: start broke","stack":"at /);
  });

  it('for the environment: lists every problem and starts nothing', async () => {
    const { code, err, out } = await run({
      MODE: 'forbidden',
      SVC_PRODUCTION: 'true',
      NATS_URL: 'nats://n',
      REDIS_URL: 'redis://r',
    }).ended;

    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('sample: 3 problem(s) in the environment');
    expect(err).not.toContain('    at ');
  });

  it('for a security control that this version does not implement', async () => {
    const { code, err, out } = await run({ SVC_LEGACY_HANDSHAKE: 'true' }).ended;

    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('SVC_LEGACY_HANDSHAKE is set: expected off or no value.');
    expect(err).toContain('does not have the handshake without proof of a key');
  });
});

describe('SVC_ENV', () => {
  it('does not start in an unknown environment', async () => {
    const { code, err, out } = await run({ SVC_ENV: 'prod-eu' }).ended;

    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('SVC_ENV');
    expect(err).toContain('"prod-eu"');
    expect(err).toContain('production (or prod) or development (or dev)');
  });
});

describe('arguments', () => {
  it('--help lists options and variables', async () => {
    const { code, out } = await run({}, ['--help']).ended;

    expect(code).toBe(0);
    expect(out).toMatch(
      /sample: shows how services start and stop[\s\S]*--check-env[\s\S]*REDIS_DATA_TTL, REDIS_DATA_TTL_SECONDS \(24h\)/,
    );
  });

  it('--version prints version, commit and protocol', async () => {
    const { out } = await run({ SVC_BUILD_VERSION: '3.2.1', SVC_BUILD_COMMIT: 'abc' }, ['--version']).ended;

    expect(out).toBe('sample 3.2.1 (commit abc, protocol 1)\n');
  });

  it('--check-env prints the effective settings without secrets, and starts nothing', async () => {
    const { code, out } = await run({ KEY: 'hunter2', SVC_LOG_LEVEL: 'debug' }, ['--check-env']).ended;

    expect(code).toBe(0);
    expect(out).toContain('SVC_LOG_LEVEL="debug"');
    expect(out).toContain('KEY=[REDACTED, 7 characters]');
    expect(out).not.toMatch(/hunter2|listening/);
  });

  it('--check-env exits 1 when the environment prevents startup', async () => {
    expect((await run({ MODE: 'forbidden' }, ['--check-env']).ended).code).toBe(1);
  });

  it('an unknown one exits 2', async () => {
    expect((await run({}, ['--prot']).ended).code).toBe(2);
  });
});

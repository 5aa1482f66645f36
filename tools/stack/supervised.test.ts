import { eventually } from '@svc/testing';
import { Supervised, type UnaskedEnd } from './supervised';

const running: Supervised[] = [];
afterEach(() => Promise.all(running.splice(0).map((process) => process.stop())));

/** A process that runs a script and is ready once it has written "ready". */
async function supervise(script: string) {
  const ends: UnaskedEnd[] = [];
  const lines: string[] = [];
  const process = new Supervised(
    {
      name: 'sample',
      command: globalThis.process.execPath,
      args: ['-e', script],
      cwd: __dirname,
      env: globalThis.process.env,
      isReady: async () => lines.includes('ready'),
    },
    {
      onLine: (line) => void lines.push(line),
      onChange: () => undefined,
      onUnaskedEnd: (end) => void ends.push(end),
      firstPauseMs: 10,
    },
  );
  running.push(process);
  await process.start();
  return { process, ends, lines, times: (line: string) => lines.filter((one) => one === line).length };
}

const stays = `setInterval(() => {}, 1_000); console.log('ready');`;

describe('the end of a supervised process', () => {
  it('unexpected: is reported with exit code and the last 50 lines, and the process is restarted', async () => {
    const { process, ends, times } = await supervise(`
      process.on('SIGUSR2', () => {
        for (let i = 1; i <= 60; i++) console.log('line ' + i);
        process.stderr.write('the reason\\n', () => process.exit(3));
      });
      ${stays}
    `);

    globalThis.process.kill(process.pid ?? 0, 'SIGUSR2');

    await eventually(() => expect(ends).toHaveLength(1));
    const [end] = ends;
    expect(end).toMatchObject({ name: 'sample', code: 3, signal: null });
    expect(end?.lastLines).toHaveLength(50);
    expect(end?.lastLines).toEqual(expect.arrayContaining(['line 60', 'the reason']));
    await eventually(() => expect(times('ready')).toBe(2));
  });

  it('unexpected: by a signal, is reported with the signal', async () => {
    const { process, ends } = await supervise(stays);

    globalThis.process.kill(process.pid ?? 0, 'SIGKILL');

    await eventually(() => expect(ends).toMatchObject([{ code: null, signal: 'SIGKILL' }]));
  });

  it('requested: with an exit code other than 0, is reported', async () => {
    const { process, ends } = await supervise(`process.on('SIGTERM', () => process.exit(1)); ${stays}`);

    await process.kill('SIGTERM');

    await eventually(() => expect(ends).toMatchObject([{ code: 1, signal: null }]));
  });

  it.each([
    ['SIGTERM', `process.on('SIGTERM', () => process.exit(0)); ${stays}`],
    ['SIGKILL', stays],
  ] as const)('asked with %s: is not reported', async (signal, script) => {
    const { process, ends, times } = await supervise(script);

    await process.kill(signal);
    await eventually(() => expect(times('ready')).toBe(2));

    expect(ends).toEqual([]);
  });
});

import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Setup is plain Node and runs before packages are installed, so it is tested in a separate Node process. */
async function runModule(code: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const module = (name: string) => JSON.stringify(pathToFileURL(join(__dirname, `${name}.mjs`)).href);
  const text = code.replace(/from '(\w+)'/g, (_, name: string) => `from ${module(name)}`);
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', text], { env });
  return stdout.trim();
}

describe('set-up', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'svc-setup-'))));
  afterEach(() => rmSync(dir, { recursive: true }));
  const program = (folder: string, name: string, prints: string) => {
    const file = join(dir, folder, name);
    mkdirSync(join(dir, folder), { recursive: true });
    writeFileSync(file, `#!/bin/sh\necho '${prints}'\n`);
    chmodSync(file, 0o755);
    return file;
  };

  it('uses the first program on PATH that is new enough', async () => {
    program('old', 'redis-server', 'Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64');
    const newer = program('new', 'redis-server', 'Redis server v=7.0.0 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64');
    const PATH = [join(dir, 'old'), join(dir, 'new'), process.env['PATH']].join(delimiter);

    const found = await runModule(`import { programs, usable } from 'programs'; console.log(usable(programs.redis));`, {
      PATH,
    });

    expect(found).toBe(newer);
  });

  it('rejects a Python without pip', async () => {
    const python = (folder: string, pip: 'has' | 'lacks') => {
      const file = program(folder, 'python3', 'Python 3.12.1');
      if (pip === 'lacks') writeFileSync(file, "#!/bin/sh\n[ $1 = --version ] && echo 'Python 3.12.1'\n");
      return file;
    };
    python('bare', 'lacks');
    const complete = python('complete', 'has');
    const PATH = [join(dir, 'bare'), join(dir, 'complete'), process.env['PATH']].join(delimiter);

    const found = await runModule(
      `import { programs, usable } from 'programs'; console.log(usable(programs.python));`,
      {
        PATH,
      },
    );

    expect(found).toBe(complete);
  });

  it('uses a Go that is new enough, by the version that `go version` prints', async () => {
    const go = (folder: string, version: string) => {
      const file = program(folder, 'go', '');
      writeFileSync(file, `#!/bin/sh\n[ $1 = version ] && echo 'go version go${version} linux/amd64'\n`);
      return file;
    };
    go('old', '1.18.10');
    const newer = go('new', '1.19.8');
    const PATH = [join(dir, 'old'), join(dir, 'new'), process.env['PATH']].join(delimiter);

    const found = await runModule(`import { programs, usable } from 'programs'; console.log(usable(programs.go));`, {
      PATH,
    });

    expect(found).toBe(newer);
  });

  it('prints install instructions without apt-get', async () => {
    const code = `import { installPrograms } from 'install'; import { programs } from 'programs';
      await installPrograms([programs.redis, programs.nats]).catch(({ message }) => console.log(message));`;

    const message = await runModule(code, { PATH: dir });

    expect(message).toContain('Missing: Redis 7.0 or newer, NATS server 2.9 or newer.');
    expect(message).toContain('apt-get install --no-install-recommends redis-server nats-server');
  });

  it('runs once at a time in one folder', async () => {
    const log = join(dir, 'log');
    const code = `import { oneAtATime } from 'turn'; import { appendFileSync } from 'node:fs';
      await oneAtATime(async () => {
        appendFileSync(${JSON.stringify(log)}, 'begin ');
        await new Promise((resume) => setTimeout(resume, 50));
        appendFileSync(${JSON.stringify(log)}, 'end ');
      });`;

    await Promise.all([runModule(code), runModule(code), runModule(code)]);

    expect(readFileSync(log, 'utf8')).toBe('begin end begin end begin end ');
  });
});

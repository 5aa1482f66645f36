import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { generate } from './main';

const root = resolve(__dirname, '../..');
const timeoutMs = 300_000;

/** Feature folders that serve routes, as the generator takes them: `jobs`, `jobs/data`. */
const routed = readdirSync(join(root, 'libs/features'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('/routes.ts'))
  .map((file) => dirname(file).replace('/src', ''));

describe('npm run new', () => {
  let copy = '';
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'svc-new-'));
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'apps', 'libs', '*.ts', '*.json', '*.mjs'], { cwd: root, encoding: 'utf8' }); // prettier-ignore
    for (const file of [...files.split('\n').filter(Boolean), '.prettierrc.json']) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(root, file), join(copy, file));
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  const run = (...args: string[]) => {
    let output = '';
    const code = generate(copy, args, (text) => (output += text));
    return { code, output };
  };
  const node = (program: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(root, 'node_modules', program), ...args], { cwd: copy, encoding: 'utf8' });
  const written: string[] = [];
  const generated = (...args: string[]) => {
    const { code, output } = run(...args);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('npm run docs') });
    written.push(...output.split('\n').filter((line) => line.startsWith('  ')).map((line) => line.trim())); // prettier-ignore
  };

  it(
    'writes features, endpoints and queues that compile, are formatted and pass their tests',
    () => {
      generated('feature', 'usage-reports');
      for (const verb of ['get', 'create', 'archive']) generated('endpoint', 'usage-reports', `${verb}-report`);
      for (const feature of routed) generated('endpoint', feature, `list-${feature.replace('/', '-')}-samples`);
      generated('queue', 'report-mails');
      generated('queue', 'report-clean-ups', '--consumer', 'engine');

      const types = node('typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json');
      expect(types.stdout).toBe('');
      const format = node('prettier/bin/prettier.cjs', '--check', ...written.filter((file) => !file.includes('-lock')));
      expect(format.stderr).toBe('');
      const [list = '', mails = ''] = ['list-usage-reports.test.ts', 'report-mails.test.ts'].map((name) =>
        written.find((file) => file.endsWith(name)),
      );
      const jest = node('jest/bin/jest.js', '-w=1', '--runTestsByPath', list, mails);
      expect(jest.stderr).toContain('2 passed, 2 total');
    },
    timeoutMs,
  );

  it('names a path by the collection, and lets only administrators in until access is set', () => {
    const declaration = (name: string) =>
      readFileSync(join(copy, `libs/contract/src/usage-reports/${name}.ts`), 'utf8');

    expect(declaration('list-usage-reports')).toContain("path: '/api/v1/usage-reports'");
    expect(declaration('get-report')).toContain("path: '/api/v1/reports/:id'");
    expect(declaration('create-report')).toContain("path: '/api/v1/reports'");
    expect(declaration('archive-report')).toContain("path: '/api/v1/reports/:id/archive'");
    expect(declaration('archive-report')).toContain("access: { permission: 'admin.*', roles: ['admin'] }");
  });

  it('adds a feature to the lock file as npm writes it, so that npm ci accepts it', () => {
    const { packages } = JSON.parse(readFileSync(join(copy, 'package-lock.json'), 'utf8'));
    const before = Object.keys(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages);
    const added = ['libs/features/usage-reports', 'node_modules/@svc/usage-reports'];

    expect(Object.keys(packages).filter((path) => !added.includes(path))).toEqual(before);
    expect(added.map((path) => packages[path])).toEqual([
      { name: '@svc/usage-reports', version: '0.1.0' },
      { resolved: 'libs/features/usage-reports', link: true },
    ]);
  });

  it.each([
    [['feature', 'jobs'], 'libs/features/jobs and libs/contract/src/jobs exists already'],
    [
      ['feature', 'UsageReports'],
      'the name of the feature must be kebab-case, such as usage-reports; got "UsageReports"',
    ],
    [['feature', '../outside'], 'the name of the feature must be kebab-case'],
    [['feature'], 'the name of the feature is missing'],
    [['endpoint', 'jobs', 'submit-job'], 'exists already'],
    [['endpoint', 'jobs', 'list-jobs'], 'listJobs exists already, in libs/contract/src/jobs/jobs.ts'],
    [['endpoint', 'jobs', 'read-job'], 'GET /api/v1/jobs/:id exists already, in libs/contract/src/jobs/jobs.ts'],
    [['endpoint', 'jobs', 'add-jobs'], 'POST /api/v1/jobs exists already, in libs/contract/src/jobs/jobs.ts'],
    [['endpoint', 'jobs', 'reports'], 'the name of the endpoint must be <verb>-<noun>'],
    [
      ['endpoint', 'registry', 'list-samples'],
      'choose one of registry/fleet, registry/pools, registry/schemas, registry/topics',
    ],
    [['endpoint', 'nowhere', 'list-samples'], 'libs/features/nowhere/src/routes.ts does not exist'],
    [['queue', 'jobs-held'], 'queues.config.ts has a queue jobs-held already'],
    [['queue', 'Mails'], 'the name of the queue must be kebab-case'],
    [['queue', 'mails', '--consumer', 'api'], '--consumer must be scheduler or engine; got "api"'],
    [['queue', 'mails', 'more'], '"more" is one argument too many'],
    [['repository', 'mails'], 'there is no generator "repository"'],
    [['feature', 'mails', '--force'], "Unknown option '--force'"],
  ])('refuses %j and writes nothing', (args, message) => {
    const { code, output } = run(...args);

    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(message) });
  });

  it('prints its usage for --help', () => {
    expect(run('--help')).toEqual({
      code: 0,
      output: expect.stringContaining('endpoint <feature> <verb>-<noun>'),
    });
  });
});

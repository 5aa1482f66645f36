import { execFileSync, execSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..');
const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<string, unknown>;

/** Installed for a capability that does not exist yet, see ADR 4. */
const ahead = ['socket.io'];

describe('packages', () => {
  it('of production are imported somewhere, so that the image holds no code without a use', () => {
    const names = Object.keys(readJson('package.json')['dependencies'] as object);
    const listed = execSync('git ls-files -co --exclude-standard "apps/*.ts" "libs/*.ts" "tools/*.ts" "tools/*.mjs"', {
      cwd: root,
    });
    const files = listed.toString().trim().split('\n').filter((file) => !file.endsWith('.test.ts')); // prettier-ignore
    const code = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    const isImported = (name: string) => ["'", '/'].some((end) => code.includes(`'${name}${end}`));

    expect(names.filter((name) => !isImported(name))).toEqual(ahead);
  });

  it('run no install scripts when somebody installs them by hand', () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-packages-'));
    mkdirSync(join(dir, 'hostile'));
    const postinstall = `node -e "require('node:fs').writeFileSync('${join(dir, 'ran')}', '')"`;
    const hostile = { name: 'hostile', version: '1.0.0', scripts: { postinstall } };
    writeFileSync(join(dir, 'hostile/package.json'), JSON.stringify(hostile));
    const dependencies = { hostile: 'file:./hostile' };
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ name: 'clone', version: '1.0.0', dependencies }));
    copyFileSync(join(root, '.npmrc'), join(dir, '.npmrc'));
    // Variables of the npm that runs this test would override the file.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

    execFileSync('npm', ['install', '--offline'], { cwd: dir, env, stdio: 'ignore' });

    expect(existsSync(join(dir, 'node_modules/hostile/package.json'))).toBe(true);
    expect(existsSync(join(dir, 'ran'))).toBe(false);
    rmSync(dir, { recursive: true });
  }, 60_000);
});

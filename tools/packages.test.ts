import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(__dirname, '..');
const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<string, unknown>;

const listed = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...patterns], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));
const readText = (files: readonly string[]) => files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
const isProduct = (file: string) => !/\.(test|testing|fixture)\.ts$|^libs\/testing\//.test(file);
const isImportedIn = (code: string, name: string) => ["'", '/'].some((end) => code.includes(`'${name}${end}`));
const namesIn = (manifest: string, ...kinds: string[]) =>
  kinds.flatMap((kind) => Object.keys((readJson(manifest)[kind] ?? {}) as object));

const manifests = listed('package.json', '*/package.json');
const tools = namesIn('package.json', 'devDependencies');

/** Development packages that no file imports, with the file that refers to them. */
const namedIn: Record<string, string> = {
  eslint: 'nx.json',
  '@eslint/js': 'node_modules/@nx/eslint-plugin/dist/src/flat-configs/javascript.js',
  'typescript-eslint': 'node_modules/@nx/eslint-plugin/dist/src/flat-configs/javascript.js',
};

describe('packages', () => {
  it('for production are imported by a service or library, so that the image contains no unused code', () => {
    const unused = manifests.flatMap((manifest) => {
      const sources = manifest === 'package.json' ? ['apps/*.ts', 'libs/*.ts'] : [`${dirname(manifest)}/*.ts`];
      const code = readText(listed(...sources).filter(isProduct));
      const names = namesIn(manifest, 'dependencies', 'optionalDependencies', 'peerDependencies');
      return names.filter((name) => !isImportedIn(code, name)).map((name) => `${manifest}: ${name}`);
    });

    expect(unused).toEqual([]);
  });

  it('for development are imported, or required by a package that is', () => {
    const code = readText(listed('*.ts', '*.mjs', '*.cjs', '*.js').filter((file) => file !== 'tools/packages.test.ts'));
    const imported = tools.filter((name) => isImportedIn(code, name));
    const peers = imported.flatMap((name) => namesIn(`node_modules/${name}/package.json`, 'peerDependencies'));
    const typed = [...namesIn('package.json', 'dependencies'), ...tools].map((name) => `@types/${name}`);
    const used = new Set([...imported, ...peers, ...typed, '@types/node']);
    const isNamed = (name: string) => readText([namedIn[name] ?? []].flat()).includes(name);

    const unused = manifests.flatMap((manifest) =>
      namesIn(manifest, 'devDependencies')
        .filter((name) => !used.has(name) && !isNamed(name))
        .map((name) => `${manifest}: ${name}`),
    );
    expect(unused).toEqual([]);
    expect(Object.keys(namedIn).filter((name) => !tools.includes(name))).toEqual([]);
  });

  it('run no install scripts on a manual npm install', () => {
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

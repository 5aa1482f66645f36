import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateBin, toolsDir } from './paths.mjs';
import { run, tail } from './say.mjs';

const rootDir = join(toolsDir, 'root');
const aptDir = join(toolsDir, 'apt');

/**
 * Installs packages without root: apt-get resolves and downloads them and their missing dependencies with separate lists
 * and cache, they are unpacked into a folder, and a script per program runs it with the libraries of that folder.
 *
 * @returns the error output, or undefined on success
 */
export async function installPrivately(packages, missing) {
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'log']) {
    mkdirSync(join(aptDir, folder), { recursive: true });
  }
  const update = await run('apt-get update', 'apt-get', [...aptOptions, 'update', '-q']);
  const args = ['install', '-y', '-q', '--no-install-recommends', '--download-only', '--reinstall', ...packages];
  const download = await run('downloading', 'apt-get', [...aptOptions, ...args]);
  if (download.code !== 0) return [update, download].map(({ output }) => tail(output)).join('\n');

  const archives = join(aptDir, 'cache/archives');
  for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
    const unpack = await run(`unpacking ${file}`, 'dpkg', ['-x', join(archives, file), rootDir]);
    if (unpack.code !== 0) return tail(unpack.output);
  }
  rmSync(aptDir, { recursive: true, force: true });
  for (const { names } of missing) names.forEach(wrap);
  return undefined;
}

const aptOptions = [
  `Dir::State=${join(aptDir, 'state')}`,
  'Dir::State::status=/var/lib/dpkg/status',
  `Dir::Cache=${join(aptDir, 'cache')}`,
  `Dir::Log=${join(aptDir, 'log')}`,
  'Debug::NoLocking=1',
  'APT::Sandbox::User=',
].flatMap((option) => ['-o', option]);

/** The program itself, because Debian's start script searches the system folders. */
const places = (name) =>
  [`usr/lib/${name}/${name}`, `usr/sbin/${name}`, `usr/bin/${name}`].map((p) => join(rootDir, p));

function wrap(name) {
  const program = places(name).find((path) => existsSync(path));
  if (!program) return;
  const script = `#!/bin/sh
export LD_LIBRARY_PATH=${quote(libraryFolders().join(':'))}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
${existsSync(join(rootDir, 'usr/share/fonts')) ? fontSettings() : ''}exec ${quote(program)} "$@"
`;
  mkdirSync(privateBin, { recursive: true });
  writeFileSync(join(privateBin, name), script);
  chmodSync(join(privateBin, name), 0o755);
}

/** Adds the fonts of the folder to the system fonts. */
function fontSettings() {
  const file = join(toolsDir, 'fonts.conf');
  const folders = [join(rootDir, 'usr/share/fonts'), '/usr/share/fonts'].map((dir) => `<dir>${dir}</dir>`).join('');
  const cache = join(toolsDir, 'font-cache');
  writeFileSync(file, `<?xml version="1.0"?><fontconfig>${folders}<cachedir>${cache}</cachedir></fontconfig>\n`);
  return `export FONTCONFIG_FILE=${quote(file)}\n`;
}

/** Every folder under lib and usr/lib that holds shared libraries, two levels deep: some packages use subfolders. */
function libraryFolders() {
  const tops = ['lib', 'usr/lib'].map((dir) => join(rootDir, dir)).filter((dir) => existsSync(dir));
  const second = tops.flatMap(foldersIn);
  return [...tops, ...second, ...second.flatMap(foldersIn)].filter((dir) =>
    readdirSync(dir).some((name) => /^lib.*\.so(\.|$)/.test(name)),
  );
}

const foldersIn = (dir) =>
  readdirSync(dir)
    .map((name) => join(dir, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

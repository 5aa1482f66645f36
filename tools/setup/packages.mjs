import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';
import { run, say, SetUpError, tail } from './say.mjs';

const lockFile = join(root, 'package-lock.json');
const markFile = join(root, 'node_modules/.svc-lock-sha256');
/** npm's record of the packages in node_modules. */
const installedFile = join(root, 'node_modules/.package-lock.json');

/** Installs the packages of package-lock.json, unless exactly these are installed. */
export async function installPackages() {
  const wanted = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  if (existsSync(markFile) && readFileSync(markFile, 'utf8') === wanted) return;
  if (!matchesLock()) await install();
  writeFileSync(markFile, wanted);
}

async function install() {
  const count = Object.keys(readJson(lockFile).packages).length;
  say(`installing ${count} packages from package-lock.json (takes a minute or two)`);
  // No package needs its install script: binaries are published as separate packages.
  const npm = process.env.npm_execpath?.endsWith('.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const args = [...npm.slice(1), 'ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { code, output } = await run('installing packages', npm[0], args, { cwd: root });
  if (code !== 0) throw new SetUpError(`npm ci failed (exit code ${code}):\n${tail(output, 30)}`);
  say('packages installed');
}

/** True after a manual `npm ci` or `npm install` too, so that nothing is installed twice. */
function matchesLock() {
  if (!existsSync(installedFile)) return false;
  const installed = readJson(installedFile).packages;
  return Object.entries(readJson(lockFile).packages).every(
    ([path, { version, link, optional }]) =>
      !path.startsWith('node_modules/') ||
      link ||
      installed[path]?.version === version ||
      (optional && installed[path] === undefined),
  );
}

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

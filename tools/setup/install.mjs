import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { installPrivately } from './private-install.mjs';
import { usable } from './programs.mjs';
import { run, say, SetUpError, tail } from './say.mjs';

/**
 * Installs programs with apt-get: into the system as root, otherwise into a folder of this repository.
 *
 * @throws SetUpError with the commands to run when automatic installation is not possible
 */
export async function installPrograms(missing) {
  const titles = missing.map(({ title }) => title).join(', ');
  if (!hasApt())
    throw new SetUpError(
      instructions(missing, 'Automatic installation requires apt-get, which this system does not have.'),
    );
  const packages = missing.flatMap(({ debian }) => debian);
  const isRoot = process.getuid?.() === 0;
  say(`installing ${titles} (${packages.join(' ')}) ${isRoot ? 'with apt-get' : 'into .svc/tools'}`);
  const problem = isRoot ? await installIntoSystem(packages) : await installPrivately(packages, missing);
  const left = missing.filter((program) => !usable(program));
  if (left.length > 0) throw new SetUpError(instructions(left, problem ?? 'The installed version is too old.'));
  say(`${titles}: installed`);
}

const hasApt = () => ['apt-get', 'dpkg'].every((name) => spawnSync(name, ['--version']).status === 0);

/** @returns the error output, or undefined on success */
async function installIntoSystem(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const update = await run('apt-get update', 'apt-get', ['update', '-q'], { env });
  const release = forbidDaemons();
  try {
    const args = ['install', '-y', '-q', '--no-install-recommends', ...packages];
    const install = await run('apt-get install', 'apt-get', args, { env });
    if (install.code === 0) return undefined;
    return [update, install]
      .filter(({ code }) => code !== 0)
      .map(({ output }) => tail(output))
      .join('\n');
  } finally {
    release();
  }
}

const policyFile = '/usr/sbin/policy-rc.d';

/** Prevents the packages from starting their servers, which would occupy the default ports of ours. */
function forbidDaemons() {
  if (existsSync(policyFile)) return () => undefined;
  writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  return () => rmSync(policyFile, { force: true });
}

const instructions = (missing, why) =>
  [
    `Missing: ${missing.map(({ title }) => title).join(', ')}.`,
    why,
    'Install it, then run the command again:',
    `  Debian, Ubuntu: apt-get install --no-install-recommends ${missing.flatMap(({ debian }) => debian).join(' ')}`,
    ...missing.map(({ elsewhere }) => `  ${elsewhere}`),
    'For npm start and npm run demo you can also set REDIS_URL and NATS_URL to running servers.',
  ].join('\n');

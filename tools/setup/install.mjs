import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { installPrivately } from './private-install.mjs';
import { usable } from './programs.mjs';
import { run, say, SetUpError, tail } from './say.mjs';

/**
 * Gets programs with the system's package manager: into the system as root, else into a folder of this repository.
 *
 * @throws SetUpError with the commands to type when there is no way to do it from here
 */
export async function installPrograms(missing) {
  const titles = missing.map(({ title }) => title).join(', ');
  if (!hasApt())
    throw new SetUpError(instructions(missing, 'This system has no apt-get, so it cannot be done for you.'));
  const packages = missing.flatMap(({ debian }) => debian);
  const isRoot = process.getuid?.() === 0;
  say(`getting ${titles} (${packages.join(' ')}) ${isRoot ? 'with apt-get' : 'into .svc/tools'}`);
  const problem = isRoot ? await installIntoSystem(packages) : await installPrivately(packages, missing);
  const left = missing.filter((program) => !usable(program));
  if (left.length > 0) throw new SetUpError(instructions(left, problem ?? 'What was installed is too old.'));
  say(`${titles}: installed`);
}

const hasApt = () => ['apt-get', 'dpkg'].every((name) => spawnSync(name, ['--version']).status === 0);

/** @returns what went wrong, or undefined */
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

/** We run our own servers: the packages must not start theirs on the ports that people expect ours on. */
function forbidDaemons() {
  if (existsSync(policyFile)) return () => undefined;
  writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  return () => rmSync(policyFile, { force: true });
}

const instructions = (missing, why) =>
  [
    `Missing: ${missing.map(({ title }) => title).join(', ')}.`,
    why,
    'Install it and run the command again:',
    `  Debian, Ubuntu: apt-get install --no-install-recommends ${missing.flatMap(({ debian }) => debian).join(' ')}`,
    ...missing.map(({ elsewhere }) => `  ${elsewhere}`),
    'Instead of local servers, REDIS_URL and NATS_URL may name running ones (for npm start and npm run demo).',
  ].join('\n');

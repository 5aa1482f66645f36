import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { privateBin } from './paths.mjs';
import { findPip } from './pip.mjs';

/** Programs that the stack and the tests run, with their package names. */
export const programs = {
  redis: {
    title: 'Redis 7.0 or newer',
    names: ['redis-server'],
    oldest: [7, 0],
    debian: ['redis-server'],
    elsewhere: 'Fedora: dnf install redis    Alpine: apk add redis    macOS: brew install redis',
  },
  nats: {
    title: 'NATS server 2.9 or newer',
    names: ['nats-server'],
    oldest: [2, 9],
    debian: ['nats-server'],
    elsewhere:
      'Alpine: apk add nats-server    macOS: brew install nats-server    others: the release page of nats-server',
  },
  chromium: {
    title: 'Chromium',
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    oldest: [100, 0],
    debian: ['chromium', 'fonts-liberation'],
    elsewhere: 'Fedora: dnf install chromium    Alpine: apk add chromium    macOS: brew install --cask chromium',
  },
  python: {
    title: 'Python 3.11 or newer with pip',
    names: ['python3'],
    oldest: [3, 11],
    debian: ['python3', 'python3-pip-whl'],
    elsewhere: 'Fedora: dnf install python3-pip    Alpine: apk add py3-pip    macOS: brew install python',
    works: (path) => findPip(path) !== undefined,
  },
  go: {
    title: 'Go 1.19 or newer',
    names: ['go'],
    oldest: [1, 19],
    debian: ['golang-go'],
    elsewhere: 'Fedora: dnf install golang    Alpine: apk add go    macOS: brew install go',
    // The folder of Go's own installer, which is often missing from PATH.
    folders: ['/usr/local/go/bin'],
    versionArgument: 'version',
  },
};

const serverFolders = ['/usr/sbin', '/usr/local/sbin'];

/** Search path, in order; the same as in libs/kits/testing/src/find-program.ts. */
const searchPath = (more) => [
  ...(process.env.PATH ?? '').split(delimiter).filter(Boolean),
  ...serverFolders,
  ...more,
  privateBin,
];

/** @returns the path of a program with the required version, or undefined */
export const usable = ({ oldest, works = () => true, ...program }) =>
  found(program).find(({ path, version }) => isNewEnough(version, oldest) && works(path))?.path;

/** All candidates with their versions; `[0, 0]` when the version is unknown. */
export const found = ({ names, folders = [], versionArgument = '--version' }) =>
  names
    .flatMap((name) => searchPath(folders).map((folder) => join(folder, name)))
    .filter(isExecutable)
    .map((path) => ({ path, version: readVersion(path, versionArgument) }));

function readVersion(path, argument) {
  const { stdout } = spawnSync(path, [argument], { encoding: 'utf8', timeout: 20_000 });
  // "Redis server v=7.0.15 …", "nats-server: v2.9.10", "Chromium 120.0.6099.224 …", "go version go1.22.1 …"
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  return [Number(major ?? 0), Number(minor ?? 0)];
}

const isNewEnough = ([major, minor], [oldestMajor, oldestMinor]) =>
  major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

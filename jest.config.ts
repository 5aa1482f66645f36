/** @jest-config-loader esbuild-register */
import { existsSync, readdirSync } from 'node:fs';
import type { Config } from 'jest';

/** Packages that ship only ES modules; Jest must transform them before Node 20 can load them. */
const esmOnly = [
  're2js',
  '@marcbachmann/cel-js',
  'jose',
  'oauth4webapi',
  'openid-client',
  'asn1js',
  'pkijs',
  'bytestreamjs',
  '@noble/hashes',
  '@peculiar/utils',
];

/** Folders that hold libraries, in the order in which an alias is looked up; the same as in tsconfig.base.json. */
const libraryFolders = ['libs', 'libs/core', 'libs/kits', 'libs/features'];

const project = (dir: string): Config => ({
  displayName: toProjectName(dir),
  rootDir: __dirname,
  roots: [`<rootDir>/${dir}`],
  testEnvironment: 'node',
  testMatch: [`<rootDir>/${dir}/**/*.test.ts`],
  transform: { '^.+\\.(t|j|mj)s$': '@swc/jest' },
  moduleNameMapper: {
    '^@svc/queues\\.config$': '<rootDir>/queues.config.ts',
    '^@svc/worker-sdk$': '<rootDir>/libs/sdk/worker/src/index.ts',
    '^svc-verify$': '<rootDir>/libs/sdk/verify/src/index.ts',
    '^@svc/fixtures/([^/]+)$': libraryFolders.map((folder) => `<rootDir>/${folder}/$1/src/testing.ts`),
    '^@svc/([^/]+)$': libraryFolders.map((folder) => `<rootDir>/${folder}/$1/src/index.ts`),
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
});

/** As in its project.json. */
const toProjectName = (dir: string): string =>
  dir === 'libs/sdk/worker' ? 'worker-sdk' : dir.slice(dir.lastIndexOf('/') + 1);

const config: Config = {
  // Tests wait for conditions, with times of their own; this only ends one that hangs, also on a machine with much to do.
  testTimeout: 30_000,
  // Each test file loads the product again, and its memory adds up: a fresh worker is faster than a full one.
  workerIdleMemoryLimit: '1200MB',
  projects: ['apps', ...libraryFolders, 'libs/sdk']
    .filter((folder) => existsSync(`${__dirname}/${folder}`))
    .flatMap((folder) => readdirSync(`${__dirname}/${folder}`).map((name) => `${folder}/${name}`))
    .filter((dir) => existsSync(`${__dirname}/${dir}/package.json`))
    .concat('tools')
    .map(project) as NonNullable<Config['projects']>,
};

export default config;

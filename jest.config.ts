/** @jest-config-loader esbuild-register */
import { existsSync, readdirSync } from 'node:fs';
import type { Config } from 'jest';

/** Packages that ship only ES modules; Jest must transform them before Node 20 can load them. */
const esmOnly = ['re2js', '@marcbachmann/cel-js'];

const project = (dir: string): Config => ({
  displayName: dir.split('/').at(-1) as string,
  rootDir: __dirname,
  roots: [`<rootDir>/${dir}`],
  testEnvironment: 'node',
  testMatch: [`<rootDir>/${dir}/**/*.test.ts`],
  transform: { '^.+\\.(t|j|mj)s$': '@swc/jest' },
  moduleNameMapper: {
    '^@svc/queues\\.config$': '<rootDir>/queues.config.ts',
    '^@svc/([^/]+)$': '<rootDir>/libs/$1/src/index.ts',
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
});

const config: Config = {
  // Tests wait for conditions, with times of their own; this only ends one that hangs, also on a machine with much to do.
  testTimeout: 30_000,
  // Each test file loads the product anew, and what it leaves behind adds up: a fresh worker is quicker than a full one.
  workerIdleMemoryLimit: '1200MB',
  projects: ['apps', 'libs']
    .filter((folder) => existsSync(`${__dirname}/${folder}`))
    .flatMap((folder) => readdirSync(`${__dirname}/${folder}`).map((name) => `${folder}/${name}`))
    .filter((dir) => existsSync(`${__dirname}/${dir}/package.json`))
    .concat('tools')
    .map(project) as NonNullable<Config['projects']>,
};

export default config;

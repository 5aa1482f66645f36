import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..');

interface LintResult {
  messages: { ruleId: string; line: number; message: string }[];
}

/** Lints text as the content of the file, and returns the lines with a rejected HTTP client. */
function refusedLines(file: string, lines: readonly string[]): number[] {
  const args = [
    join(root, 'node_modules/eslint/bin/eslint.js'),
    '--stdin',
    '--stdin-filename',
    file,
    '--format',
    'json',
  ];
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, input: lines.join('\n'), encoding: 'utf8' });
  const [result] = JSON.parse(stdout) as [LintResult];
  const refusals = result.messages.filter(({ message }) => message.includes('@svc/outbound'));
  return [...new Set(refusals.map(({ line }) => line))];
}

const requests = [
  "import http from 'node:http';",
  "import * as http2 from 'node:http2';",
  "import { get, request } from 'node:https';",
  "import { Client } from 'undici';",
  "export const a = [http, http2, get, request, Client, fetch('http://a')];",
  "export const b = globalThis.fetch('http://a');",
];

describe('HTTP clients other than @svc/outbound', () => {
  it.each([
    'libs/features/jobs/src/any.ts',
    'libs/core/policy/src/any.ts',
    'apps/api/src/any.ts',
    'libs/kits/outbound/src/any.ts',
  ])('lint refuses them in %s', (file) => expect(refusedLines(file, requests)).toEqual([1, 2, 3, 4, 5, 6]), 60_000);

  it('are allowed by lint in servers, types, tests and the SDK', () => {
    const server = ["import { createServer, type IncomingMessage } from 'node:http';", 'export { createServer };'];
    expect(refusedLines('libs/features/jobs/src/any.ts', [...server, 'export type B = IncomingMessage;'])).toEqual([]);
    expect(refusedLines('libs/features/jobs/src/any.test.ts', requests)).toEqual([]);
    expect(refusedLines('libs/sdk/worker/src/any.ts', requests)).toEqual([]);
  }, 60_000);
});

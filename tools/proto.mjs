/**
 * Generates code from libs/contract/src/proto/*.proto:
 *
 * - generated/bus.js, bus.d.ts: encoder and decoder of the bus messages, field names as on the wire, int64 as number
 * - generated/descriptor.json: every message and service, for gRPC's `fromJSON` and for the deterministic encoding
 *
 * `node tools/proto.mjs [folder]`: writes to another folder, for the test that the checked-in files are up to date.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'libs/contract/src/proto');
const out = resolve(process.argv[2] ?? join(source, 'generated'));
const cli = dirname(createRequire(import.meta.url).resolve('protobufjs-cli/package.json'));
const run = (tool, ...args) => execFileSync(process.execPath, [join(cli, 'bin', tool), ...args], { cwd: source });

mkdirSync(out, { recursive: true });
const bus = join(out, 'bus.js');
const messages = ['-t', 'static-module', '-w', 'commonjs', '-p', '.', '--keep-case', '--force-number',
  '--no-service', '--no-delimited', '--no-typeurl', '--no-verify', '--no-convert', '--no-create']; // prettier-ignore
// bus.d.ts is generated from the comments of bus.js, which are then dropped by generating bus.js again.
run('pbjs', ...messages, '--dts', '-o', bus, 'bus.proto');
run('pbjs', ...messages, '--no-comments', '-o', bus, 'bus.proto');

const descriptor = join(out, 'descriptor.json');
run('pbjs', '-t', 'json', '-p', '.', '--keep-case', '-o', descriptor,
  'bus.proto', 'kernel.proto', 'kernel-batch.proto', 'output.proto', 'gateway.proto'); // prettier-ignore
writeFileSync(descriptor, `${JSON.stringify(JSON.parse(readFileSync(descriptor, 'utf8')))}\n`);

import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateBin, root, toolsDir } from './paths.mjs';
import { run, say, SetUpError, tail } from './say.mjs';

const source = join(root, 'examples/workers/go');
/** Packages that the example imports, and the generator of its messages. */
const used = [
  'github.com/nats-io/nats.go',
  'github.com/redis/go-redis/v9',
  'google.golang.org/protobuf/cmd/protoc-gen-go',
];
const folder = join(toolsDir, 'go');
const markFile = join(folder, '.go-sum-sha256');
/** Runs the selected Go with modules and build cache in this repository's folder; tests find it by this name. */
const launcher = join(privateBin, 'third-party-go');

/**
 * Downloads the modules of examples/workers/go, which go verifies against go.sum, and compiles those that it uses, unless
 * exactly these are present.
 *
 * @throws SetUpError with the output of go
 */
export async function installGoModules(go) {
  const wanted = createHash('sha256')
    .update(readFileSync(join(source, 'go.sum')))
    .update(go)
    .digest('hex');
  if (existsSync(launcher) && existsSync(markFile) && readFileSync(markFile, 'utf8') === wanted) return;
  say('downloading the Go modules of examples/workers/go');
  writeLauncher(go);
  const { code, output } = await run('go mod download', launcher, ['mod', 'download'], { cwd: source });
  if (code !== 0) throw new SetUpError(`go mod download failed:\n${tail(output)}`);
  say('compiling the Go modules');
  // Takes a minute, which tests would otherwise wait for while others use the processors.
  const compiled = await run('go build', launcher, ['build', ...used], { cwd: source });
  if (compiled.code !== 0) throw new SetUpError(`go build failed:\n${tail(compiled.output)}`);
  writeFileSync(markFile, wanted);
}

/** GOTOOLCHAIN: the installed Go is used, never one that a module asks for. */
function writeLauncher(go) {
  for (const dir of [folder, privateBin]) mkdirSync(dir, { recursive: true });
  const script = `#!/bin/sh
export GOPATH=${quote(join(folder, 'path'))} GOMODCACHE=${quote(join(folder, 'modules'))} GOCACHE=${quote(join(folder, 'cache'))}
export GOTOOLCHAIN=local GOFLAGS='-modcacherw -buildvcs=false' CGO_ENABLED=0
exec ${quote(go)} "$@"
`;
  writeFileSync(launcher, script);
  chmodSync(launcher, 0o755);
}

const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

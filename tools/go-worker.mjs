/**
 * Copies examples/workers/go into a folder, generates its package `bus` from bus.proto with protoc-gen-go, and builds it:
 * `node tools/go-worker.mjs <folder>`. No downloads: the modules and the packages of Python are those of
 * `npm run setup -- --go --python`.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { orExplain } from './setup.mjs';
import { privateBin, root } from './setup/paths.mjs';
import { SetUpError } from './setup/say.mjs';

await orExplain(async () => {
  const [target] = process.argv.slice(2);
  if (!target) throw new SetUpError('usage: node tools/go-worker.mjs <folder>');
  const folder = resolve(target);
  const [go, python] = ['third-party-go', 'third-party-python'].map((name) => join(privateBin, name));
  if (![go, python].every((path) => existsSync(path)))
    throw new SetUpError('run `npm run setup -- --go --python` first');
  const build = (output, name) =>
    execFileSync(go, ['build', '-trimpath', '-o', join(folder, output), name], {
      cwd: folder,
      env: { ...process.env, GOPROXY: 'off' },
      stdio: 'inherit',
    });

  cpSync(join(root, 'examples/workers/go'), folder, { recursive: true });
  const generator = join(folder, 'protoc-gen-go');
  // Part of the protobuf module, so its version is that of the runtime.
  build('protoc-gen-go', 'google.golang.org/protobuf/cmd/protoc-gen-go');
  execFileSync(python, [join(root, 'tools/third-party/go_code.py'), generator, join(folder, 'bus')], {
    env: { ...process.env, PYTHONPATH: join(root, 'sdk/python') },
    stdio: 'inherit',
  });
  rmSync(generator);
  build('worker', '.');
});

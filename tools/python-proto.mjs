/**
 * Generates sdk/python/svc_worker/_proto from libs/contract/src/proto/bus.proto, with the generator of
 * sdk/python/requirements-proto.txt, which is installed into .svc/tools. Part of `npm run proto`.
 *
 * The file is registered as svc_worker/_proto/bus.proto, because a process has one registry for the files of all packages.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { orExplain } from './setup.mjs';
import { root, toolsDir } from './setup/paths.mjs';
import { installRequirements } from './setup/pip-install.mjs';
import { programs, usable } from './setup/programs.mjs';
import { SetUpError } from './setup/say.mjs';

const file = 'svc_worker/_proto/bus.proto';

await orExplain(async () => {
  const python = usable(programs.python);
  if (!python) throw new SetUpError(`${programs.python.title} is required`);
  const packages = join(toolsDir, 'python-proto');
  await installRequirements(python, join(root, 'sdk/python/requirements-proto.txt'), packages);
  const sources = mkdtempSync(join(tmpdir(), 'python-proto-'));
  try {
    mkdirSync(join(sources, dirname(file)), { recursive: true });
    copyFileSync(join(root, 'libs/contract/src/proto/bus.proto'), join(sources, file));
    const out = join(root, 'sdk/python');
    const args = ['-m', 'grpc_tools.protoc', `-I${sources}`, `--python_out=${out}`, `--pyi_out=${out}`, file];
    execFileSync(python, args, { env: { ...process.env, PYTHONPATH: packages }, stdio: 'inherit' });
  } finally {
    rmSync(sources, { recursive: true });
  }
});

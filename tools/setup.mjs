/**
 * Installs what a new machine needs: packages from the lock file, redis-server, nats-server, and Chromium, Python and Go
 * for the tests. Plain Node, since it runs before packages are installed. Existing installations are left unchanged.
 *
 * `npm run setup [-- --browser --python --go]`; `npm start`, `npm run demo` and `npm test` call it first.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installGoModules } from './setup/go-modules.mjs';
import { installPackages } from './setup/packages.mjs';
import { installPrograms } from './setup/install.mjs';
import { programs, usable } from './setup/programs.mjs';
import { installPythonPackages } from './setup/python-packages.mjs';
import { say, SetUpError } from './setup/say.mjs';
import { oneAtATime } from './setup/turn.mjs';

const oldestNode = [20, 19];

/**
 * @param browser also Chromium
 * @param python also Python and the packages of the third-party worker
 * @param go also Go and the modules of examples/workers/go
 * @param servers Redis and NATS even when REDIS_URL and NATS_URL are set, because tests kill their own servers
 * @throws SetUpError with instructions
 */
export async function setUp({ browser = false, python = false, go = false, servers = false } = {}) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
    throw new SetUpError(`Node ${oldestNode.join('.')} or newer is required; this is ${process.versions.node}.`);
  }
  const wanted = [
    ...(servers || !process.env.REDIS_URL ? [programs.redis] : []),
    ...(servers || !process.env.NATS_URL ? [programs.nats] : []),
    ...(browser ? [programs.chromium] : []),
    ...(python ? [programs.python] : []),
    ...(go ? [programs.go] : []),
  ];
  await oneAtATime(async () => {
    await installPackages();
    const missing = wanted.filter((program) => !usable(program));
    if (missing.length > 0) await installPrograms(missing);
    if (python) await installPythonPackages(usable(programs.python));
    if (go) await installGoModules(usable(programs.go));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: Object.fromEntries(['browser', 'python', 'go', 'servers'].map((name) => [name, { type: 'boolean' }])),
  });
  await orExplain(async () => {
    await setUp(values);
    say('all requirements are installed');
  });
}

/** Runs `act`; a SetUpError exits with its message instead of a stack. */
export async function orExplain(act) {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    console.error(`\n${error.message}\n`);
    process.exit(1);
  }
}

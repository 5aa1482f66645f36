import { join, resolve } from 'node:path';
import { repositoryRoot } from '../stack/settings';
import { addLocalWorker } from './local';
import { readWorkerOptions, workerEnvironment } from './options';

const help = `npm run credentials -- --pool POOL --worker ID [options]: credentials of one worker for the local stack.

Makes them on the first call and prints the same ones again later, as variables of a worker process. A running stack
accepts them at once, without a restart. They let the worker reach its own subjects in NATS, and inputs, results,
artifacts and memories in Redis.

  --pool POOL     a pool of the pools file
  --worker ID     worker id; each belongs to one pool
  --data DIR      folder of the stack (default .svc)
  --json          the entry of stack.json as one line of JSON
  --help          this text
`;

async function run(): Promise<void> {
  const options = readWorkerOptions(process.argv.slice(2));
  if (!options) {
    process.stdout.write(help);
    return;
  }
  const { pool, worker, data, json } = options;
  const dataDir = resolve(data ?? join(repositoryRoot, '.svc'));
  const { access, isRunning } = await addLocalWorker(dataDir, pool, worker);
  if (!isRunning)
    process.stderr.write(`no stack runs on ${dataDir}: run this again after npm start for the addresses\n`);
  process.stdout.write(`${json ? JSON.stringify({ pool, ...access }) : workerEnvironment(pool, access)}\n`);
}

run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});

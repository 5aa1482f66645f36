import { join, resolve } from 'node:path';
import { repositoryRoot } from '../stack/settings';
import { addLocalWorker } from './local';
import { readWorkerOptions, workerEnvironment } from './options';

const help = `npm run credentials -- --pool POOL --worker ID [options]: prints the credentials of a worker for the local stack.

Creates them on the first call and prints the same ones later, as environment variables of a worker process. A running
stack accepts them without a restart. They give access to the worker's own subjects in NATS, and to inputs, results,
artifacts and memories in Redis.

  --pool POOL     pool from the pools file
  --worker ID     worker id; an id belongs to one pool
  --data DIR      folder of the stack (default .svc)
  --json          print the entry of stack.json as one line of JSON
  --help          print this help
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
    process.stderr.write(
      `no stack is running in ${dataDir}; run this command again after npm start to get the addresses\n`,
    );
  process.stdout.write(`${json ? JSON.stringify({ pool, ...access }) : workerEnvironment(pool, access)}\n`);
}

run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});

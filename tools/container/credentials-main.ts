import { runContainerCredentials } from './credentials';

runContainerCredentials({
  args: process.argv.slice(2),
  dir: process.env['CREDENTIALS_DIR'] || '/credentials',
  poolsFile: process.env['POOL_CONFIG_PATH'] || 'config/pools.yaml',
  attestation: process.env['WORKER_ATTESTATION'],
  nats: 'nats:4222',
  redis: 'redis:6379',
  print: (text) => void process.stdout.write(text),
}).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});

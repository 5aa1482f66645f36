import { parseArgs } from 'node:util';
import type { StackInfo } from './info';
import type { LicensePlan } from './license';
import { startStack } from './stack';

const help = `npm start -- [options]: runs the control plane on this machine until Ctrl-C.

  --data DIR      folder for data, keys and certificates (default .svc); two stacks need two folders
  --no-tls        plain HTTP and gRPC
  --kernel        evaluate policy in a separate kernel process
  --license PLAN  community, team or enterprise (default)
  --json          print addresses and keys as one line of JSON on standard output; progress goes to standard error
  --help          print this help

Starts Redis and NATS too, unless REDIS_URL and NATS_URL are set. Variables of the services that you set take precedence
over generated ones. Uses the documented ports, or free ports where those are in use.
`;

const plans: readonly LicensePlan[] = ['community', 'team', 'enterprise'];

function readOptions() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      'no-tls': { type: 'boolean', default: false },
      kernel: { type: 'boolean', default: false },
      license: { type: 'string', default: 'enterprise' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const license = plans.find((plan) => plan === values.license);
  if (!license) throw new Error(`--license must be one of ${plans.join(', ')}`);
  return { ...values, license };
}

/** Terminal output stays in scrollback, so passwords are only in stack.json. */
const withoutPassword = (url: string) => url.replace(/:\/\/([^:@/]*):[^@]*@/, '://$1@');

const summary = (info: StackInfo) => `
  Gateway     ${info.base_url}${info.tls ? `   (authority ${info.ca_file})` : ''}
  gRPC        ${info.grpc_addr}
  Metrics     ${Object.values(info.metrics_urls).join('  ')}
  Redis       ${withoutPassword(info.redis_url)}
  NATS        ${withoutPassword(info.nats_url)}
  API key     ${info.keys.admin}   (tenant ${info.tenant}, admin)
  All of it   ${info.data_dir}/stack.json

  curl ${info.tls ? `--cacert ${info.ca_file} ` : ''}-H 'X-API-Key: ${info.keys.admin}' ${info.base_url}/api/v1/status

  Ctrl-C stops everything.
`;

async function run(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(help);
    return;
  }
  const say = (text: string) => void process[options.json ? 'stderr' : 'stdout'].write(`${text}\n`);
  const quiet = ['redis', 'nats'];

  const starting = startStack({
    ...(options.data !== undefined && { dataDir: options.data }),
    tls: !options['no-tls'],
    kernel: options.kernel,
    license: options.license,
    onLine: (service, line) => (quiet.includes(service) ? undefined : say(`${service.padEnd(9)} │ ${line}`)),
    onProgress: (what) => say(`${'stack'.padEnd(9)} │ ${what}`),
  });
  let isStopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(130); // second signal: supervised processes are killed with this one
    isStopping = true;
    say(`\n${signal}: stopping`);
    await (await starting).stop();
    process.exit(0);
  };
  // A failed start is reported below, also after a signal.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal).catch(() => 1));

  const stack = await starting;
  if (isStopping) return;
  say(summary(stack.info));
  if (options.json) process.stdout.write(`${JSON.stringify(stack.info)}\n`);
}

run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});

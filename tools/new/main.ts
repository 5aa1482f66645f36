import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { planEndpoint } from './endpoint';
import { planFeature } from './feature';
import { isConsumer, planQueue } from './queue';
import { Refusal, repositoryAt, write, type Changes, type Repository } from './repository';

const usage = `usage: npm run new -- <what> <name…>

  feature <name>                     a feature with one endpoint, in libs/features/<name>
  endpoint <feature> <verb>-<noun>   an endpoint of a feature: declaration, operation, test, handler
                                     <feature> may name a folder with routes of its own, such as registry/topics
  queue <name> [--consumer <app>]    a queue and its processor, in scheduler (default) or engine

Names are kebab-case. Names that exist are refused, and then nothing is written.
`;

const nextSteps = {
  feature: `Fill in the operation and its view. Move the feature in eslint.config.mjs before the first one that imports it.`,
  endpoint: `Set access, params, body, errors and, if it names a record, otherTenant in the declaration. Fill in the operation; dependencies are its first argument.`,
  queue: `Fill in purpose, producers and payload in queues.config.ts. The processor must be safe to run twice.`,
};

/** As `npm run format` does; npm formats the lock file itself. */
function format(root: string, paths: readonly string[]): void {
  const files = paths.filter((path) => path !== 'package-lock.json');
  const prettier = join(root, 'node_modules/prettier/bin/prettier.cjs');
  execFileSync(process.execPath, [prettier, '--write', '--log-level=warn', ...files], { cwd: root, stdio: 'inherit' });
}

interface Request {
  what: keyof typeof nextSteps;
  plan(repository: Repository): Changes;
}

/** @throws Refusal when the arguments ask for nothing that can be generated */
export function readRequest(args: readonly string[]): Request | 'help' {
  const { positionals, values } = parsed(args);
  const [what, ...names] = positionals;
  const { consumer = 'scheduler', help } = values;
  if (help || what === undefined) return 'help';
  const expected = { feature: 1, endpoint: 2, queue: 1 };
  if (what !== 'feature' && what !== 'endpoint' && what !== 'queue') {
    throw new Refusal(`there is no generator "${what}"; choose feature, endpoint or queue`);
  }
  if (names.length > expected[what]) throw new Refusal(`"${names[expected[what]]}" is one argument too many`);
  if (values.consumer !== undefined && what !== 'queue') throw new Refusal('only a queue has a --consumer');
  if (!isConsumer(consumer)) throw new Refusal(`--consumer must be scheduler or engine; got "${consumer}"`);
  const [first, second] = names;
  const plans = {
    feature: (repository: Repository) => planFeature(repository, first),
    endpoint: (repository: Repository) => planEndpoint(repository, first, second),
    queue: (repository: Repository) => planQueue(repository, first, consumer),
  };
  return { what, plan: plans[what] };
}

function parsed(args: readonly string[]) {
  try {
    const options = { help: { type: 'boolean', short: 'h' }, consumer: { type: 'string' } } as const;
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new Refusal(error instanceof Error ? error.message : String(error));
  }
}

/** @returns the exit code */
export function generate(root: string, args: readonly string[], print: (text: string) => void): number {
  try {
    const request = readRequest(args);
    if (request === 'help') {
      print(usage);
      return args.length === 0 ? 2 : 0;
    }
    const changes = request.plan(repositoryAt(root));
    write(root, changes);
    format(root, [...changes.keys()]);
    print([...changes.keys()].map((path) => `  ${path}\n`).join(''));
    print(`${nextSteps[request.what]}\nThen: npm run docs, and commit the changed pages.\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    print(`${error.message}\n`);
    return 1;
  }
}

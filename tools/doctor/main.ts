import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readGatewayEnvironment } from '../stack/gateway-environment';
import { repositoryRoot } from '../stack/settings';
import { diagnose } from './diagnose';
import { type Finding, formatFindings, info } from './finding';

const help = `npm run doctor [-- options]: finds what is misconfigured, and prints how to fix it. It changes nothing.

While npm start runs, with the environment of its gateway; variables that are set here take precedence. Otherwise with
the environment that is set here, which should be that of the gateway.

  --data DIR  folder of the local stack (default .svc)
  --json      print the findings as JSON; use npm run -s doctor -- --json
  --help      print this help

Exit codes: 0 no errors, though there may be warnings; 1 errors; 2 unknown options.
`;

function readOptions() {
  try {
    return parseArgs({
      options: {
        data: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (problem) {
    process.stderr.write(`${problem instanceof Error ? problem.message : String(problem)}\n\n${help}`);
    return process.exit(2);
  }
}

/** With the environment of the local stack, if one runs. */
async function findProblems(dataDir: string): Promise<Finding[]> {
  const stack = readGatewayEnvironment(dataDir);
  if (!stack) return diagnose(process.env);
  const ca = stack.caFile ? readFileSync(stack.caFile, 'utf8') : undefined;
  const findings = await diagnose({ ...stack.env, ...process.env }, { ...(ca && { ca }) });
  return [info('stack', `the local stack of ${dataDir} is running`), ...findings];
}

async function run(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(help);
    return;
  }
  const dataDir = resolve(options.data ?? join(repositoryRoot, '.svc'));
  const findings = await findProblems(dataDir);
  process.stdout.write(`${options.json ? JSON.stringify({ findings }, null, 2) : formatFindings(findings)}\n`, () =>
    // A connection attempt may still be in progress.
    process.exit(findings.some(({ severity }) => severity === 'error') ? 1 : 0),
  );
}

void run();

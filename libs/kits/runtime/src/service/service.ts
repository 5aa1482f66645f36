import { parseArgs } from 'node:util';
import { readBuildInfo, type BuildInfo } from '../build-info';
import { systemClock, type Clock } from '../clock';
import { envFindings, envHelp, envReport, type commonVariables, type EnvSpec, type Variables } from '../env';
import type { EnvOf } from '../env/declare';
import { EnvError, formatProblem } from '../env/problem';
import { readEnv, type Reading } from '../env/read';
import { Health } from '../health';
import { maskValues, openLogger, type Logger } from '../logger';
import { asStartError, DependencyUnavailable } from './start-error';
import { StopSteps } from './stop-steps';

/** Dependencies passed to `start`. */
export interface Boot<Env> {
  env: Env;
  log: Logger;
  health: Health;
  clock: Clock;
  build: BuildInfo;
  /** Aborts when shutdown begins, for loops and sleeps. */
  stopping: AbortSignal;
  /**
   * Registers how to undo what was just started. Steps run last first, so that intake, which starts last, stops first and
   * connections close last. A step that exceeds the stop timeout is abandoned.
   */
  onStop(name: string, step: () => unknown): void;
}

export interface Service<T extends Variables> {
  name: string;
  /** One sentence for `--help`. */
  purpose: string;
  env: EnvSpec<T>;
  /** Resolves when the process serves; `/livez` and `/readyz` answer 200 from then on. */
  start(boot: Boot<EnvOf<T>>): Promise<void>;
  /** Timeout of each stop step. */
  stopTimeoutMs?: number;
  /** Time after which the process exits even if stop steps are still running. */
  hardStopMs?: number;
}

const options = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  'check-env': { type: 'boolean' },
} as const;
const usageExit = 2;
/** `EX_TEMPFAIL`: a supervisor may restart the process without a change of configuration. */
const unavailableExit = 75;

/**
 * Runs a service as this process: arguments, environment, start, and on SIGTERM or SIGINT readiness 503, then the stop
 * steps, then exit 0. A second signal exits immediately. An uncaught exception is logged and exits with 1, since the state
 * of the process can no longer be trusted.
 */
export async function runService<T extends Variables>(
  service: Service<T>,
  args = process.argv.slice(2),
): Promise<void> {
  const build = readBuildInfo(process.env, __dirname);
  const asked = readArgs(service.name, args);
  if (!asked) return exitWhenWritten(usageExit);
  if (asked.help) return print(helpText(service));
  if (asked.version)
    return print(`${service.name} ${build.version} (commit ${build.commit}, protocol ${build.protocol})`);

  const reading = readOrExplain(service.env);
  if (!reading) return exitWhenWritten(1);
  if (asked['check-env']) return print(`${service.name}: the environment is valid\n${envReport(reading)}`);
  await start(service, reading, build);
}

async function start<T extends Variables>(
  service: Service<T>,
  reading: Reading<EnvOf<T>>,
  build: BuildInfo,
): Promise<void> {
  const clock = systemClock();
  // Every table spreads the common variables; the log settings are read from it by name.
  const { logLevel = 'info', logFormat = 'text', instanceId } = reading.values as Partial<LogSettings>;
  const log = openLogger({
    component: service.name,
    level: logLevel,
    format: logFormat,
    clock,
    maskers: [maskValues(reading.secrets)],
  });
  const health = new Health({
    clock,
    onChange: ({ name, ok, error }) => (ok ? log.info('dependency recovered', { dependency: name }) : log.warn('dependency unavailable', { dependency: name, error })),
  }); // prettier-ignore
  const steps = new StopSteps(log, service.stopTimeoutMs ?? 15_000);
  const stopping = new AbortController();
  const endWith = (code: number) => exitWhenWritten(code);

  let isStopping = false;
  const stop = async (why: string, code: number) => {
    if (isStopping) return endWith(code || 130);
    isStopping = true;
    log.info('stopping', { reason: why });
    setTimeout(() => {
      log.error('hard stop', { reason: 'stop steps timed out' });
      endWith(1);
    }, service.hardStopMs ?? 30_000).unref();
    health.drain();
    stopping.abort();
    await steps.run();
    log.info('stopped');
    endWith(code);
  };
  const crash = (msg: string) => (error: unknown) => {
    log.error(msg, { error });
    endWith(1);
  };
  process.on('uncaughtException', crash('uncaught exception'));
  process.on('unhandledRejection', crash('unhandled rejection'));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal, 0));

  for (const warning of reading.warnings)
    log.warn('invalid variable ignored', { problem: formatProblem(warning).trim() });
  for (const { what, fix } of envFindings(service.env, reading.values)) log.warn(what, { fix });
  try {
    const onStop = (name: string, step: () => unknown) => steps.add(name, step);
    await service.start({ env: reading.values, log, health, clock, build, stopping: stopping.signal, onStop });
  } catch (error) {
    if (isStopping) return;
    const known = asStartError(error);
    if (known) process.stderr.write(`${service.name}: ${known.message}: ${known.where}\n  ${known.fix}\n`);
    else log.error('start failed', { error });
    return stop('start failed', known instanceof DependencyUnavailable ? unavailableExit : 1);
  }
  if (isStopping) return;
  health.started();
  log.info('started', { version: build.version, commit: build.commit, instance_id: instanceId });
}

type LogSettings = Pick<EnvOf<typeof commonVariables>, 'logLevel' | 'logFormat' | 'instanceId'>;

function readArgs(name: string, args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n  See --help.\n`);
    return undefined;
  }
}

function readOrExplain<T extends Variables>(spec: EnvSpec<T>): Reading<EnvOf<T>> | undefined {
  try {
    return readEnv(spec, process.env);
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    process.stderr.write(
      `${error.message}\nThe service did not start. --check-env prints the effective values, --help lists all variables.\n`,
    );
    return undefined;
  }
}

function helpText<T extends Variables>({ name, purpose, env }: Service<T>): string {
  return [
    `${name}: ${purpose}`,
    '',
    'Options',
    '  --help       print this help',
    '  --version    print version, commit and protocol',
    '  --check-env  read the environment, print the effective values and exit',
    '',
    'Environment (durations such as 500ms, 30s, 24h, 7d)',
    envHelp(env),
  ].join('\n');
}

const print = (text: string) => void process.stdout.write(`${text}\n`);

/** Ends the process after standard output and error were written, which on a pipe may be later than the call. */
function exitWhenWritten(code: number): void {
  process.exitCode = code;
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

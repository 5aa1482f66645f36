/** `npm run conformance`: checks a worker in any language against the protocol. See options.ts. */
import { startNats, startRedis } from '@svc/testing';
import { writeFileSync } from 'node:fs';
import { OptionError, readOptions, usage, type Options } from './options';
import { Platform } from './platform';
import { describeResult, hasFailed, summarize, toJunit } from './report';
import { runChecks } from './run-checks';
import { Mismatch } from './verdict';
import { attachProcess, startWorker } from './worker-process';

const note = (text: string) => console.error(text);

async function conformance(options: Options): Promise<number> {
  const cleanUps: (() => Promise<unknown>)[] = [];
  try {
    const { natsUrl, redisUrl } = await openServers(options, cleanUps);
    const platform = await Platform.open(natsUrl, redisUrl);
    cleanUps.push(() => platform.close());
    const { pool } = options.session;
    const env = { NATS_URL: natsUrl, REDIS_URL: redisUrl, SVC_POOL: pool };
    const worker = options.command.length > 0 ? startWorker(options.command, env) : undefined;
    if (worker) cleanUps.push(() => worker.stop());
    else note(`waiting for a worker of pool ${pool}`);
    const process = worker ?? (options.pid === undefined ? undefined : attachProcess(options.pid));
    const report = await runChecks(
      platform,
      { ...options.session, ...(process && { process }) },
      { only: options.only, onResult: (result) => void (options.json || console.log(describeResult(result))) },
    );
    console.log(options.json ? JSON.stringify(report, null, 2) : summarize(report));
    if (options.junit) writeFileSync(options.junit, toJunit(report));
    return hasFailed(report) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    note(`no worker was checked: ${error.message}`);
    return 1;
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  }
}

async function openServers({ natsUrl, redisUrl }: Options, cleanUps: (() => Promise<unknown>)[]) {
  if (natsUrl && redisUrl) return { natsUrl, redisUrl };
  const [nats, redis] = await Promise.all([startNats(), startRedis()]);
  cleanUps.push(
    () => nats.stop(),
    () => redis.stop(),
  );
  note(`NATS_URL=${nats.url}\nREDIS_URL=${redis.url}`);
  return { natsUrl: nats.url, redisUrl: redis.url };
}

function readOrExplain(): Options | undefined {
  try {
    const options = readOptions(process.argv.slice(2));
    if (!options) console.log(usage);
    return options;
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    note(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}

const options = readOrExplain();
if (options) void conformance(options).then((code) => process.exit(code));

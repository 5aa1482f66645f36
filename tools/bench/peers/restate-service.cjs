/**
 * A Restate service with the work of the bench's worker: `one` and `three` steps, each recorded in Restate's journal.
 * Resolves the SDK from BENCH_PEER_DIR, where the bench has installed it.
 */
const { createRequire } = require('node:module');
const { createServer } = require('node:http2');
const { join } = require('node:path');

// Part of Node from version 22 on, which the SDK expects.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((onResolve, onReject) => ([resolve, reject] = [onResolve, onReject]));
  return { promise, resolve, reject };
};

const restate = createRequire(join(process.env.BENCH_PEER_DIR, 'package.json'))('@restatedev/restate-sdk');

const work = ({ prompt }) => ({
  answer: `Berth ${prompt.length % 40} is free from six in the morning.`,
  attempt: 1,
});

const service = restate.service({
  name: 'bench',
  handlers: {
    one: (ctx, input) => ctx.run('only', () => work(input)),
    three: async (ctx, input) => {
      await ctx.run('first', () => work(input));
      await ctx.run('second', () => work(input));
      return ctx.run('third', () => work(input));
    },
  },
});

// The bench process has exited.
process.once('disconnect', () => process.exit(1));

const logger = () => undefined;
const server = createServer(restate.createEndpointHandler({ services: [service], logger }));
server.listen(0, '127.0.0.1', () => process.send(server.address().port));

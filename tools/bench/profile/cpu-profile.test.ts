import { summarize, type CpuProfile } from './cpu-profile';
import { locateFunction } from './locate';

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 1, columnNumber: 0 });

/** Of 100 ms: 10 idle, 20 in our code, 30 in ioredis and 40 in the engine's socket write called by ioredis. */
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3] },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('decideJob', '/r/libs/features/dispatch/src/decide-job.ts'), children: [4] },
    { id: 4, callFrame: frame('sendCommand', '/r/node_modules/ioredis/built/Redis.js'), children: [5] },
    { id: 5, callFrame: frame('write', 'node:net'), children: [6] },
    { id: 6, callFrame: frame('writeBuffer') },
  ],
  samples: [2, 3, 4, 6],
  timeDeltas: [10_000, 20_000, 30_000, 40_000],
};

describe('summarize', () => {
  const summary = summarize(profile, (url, line) => locateFunction('/r', url, line));

  it('attributes engine time to the calling package', () => {
    expect(summary.byCaller.filter(({ selfMs }) => selfMs > 0)).toEqual([
      { name: 'ioredis', selfMs: 70 },
      { name: 'libs/features/dispatch', selfMs: 20 },
    ]);
  });

  it('also shows the engine separately', () => {
    expect(summary.byPackage[0]).toEqual({ name: '(engine)', selfMs: 40 });
  });

  it('names functions with their location, and excludes idle time', () => {
    expect(summary.functions.slice(0, 3).map(({ name }) => name)).toEqual([
      'writeBuffer  (engine)',
      'sendCommand  ioredis/built/Redis.js:2',
      'decideJob  libs/features/dispatch/src/decide-job.ts:2',
    ]);
    expect([summary.totalMs, summary.idleMs]).toEqual([100, 10]);
  });
});

describe('placeOf', () => {
  it.each([
    ['/r/node_modules/@grpc/grpc-js/build/src/call.js', '@grpc/grpc-js'],
    ['/r/node_modules/bullmq/node_modules/ioredis/built/Redis.js', 'ioredis'],
    ['/r/libs/store/src/job.record.ts', 'libs/store'],
  ])('of %s is %s', (file, group) => {
    expect(locateFunction('/r', file, 0).group).toBe(group);
  });
});

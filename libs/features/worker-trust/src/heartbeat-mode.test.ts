import { type Heartbeat, heartbeatPacket } from '@svc/contract';
import { type HeartbeatSource, judgeHeartbeat } from './heartbeat-mode';

const nowMs = 1_000_000;
const beat = (pool: string, capabilities: string[] = []): Heartbeat =>
  heartbeatPacket({ trace_id: '', sender_id: 'w1', nowUs: 0 }, { worker_id: 'w1', pool, capabilities, active_jobs: 3 })
    .body;
const source = (pools: string[], capabilities?: string[], session: object = {}): HeartbeatSource => ({
  scope: { pools, topics: ['job.>'] },
  session: capabilities && { jti: 'j', exp_ms: nowMs + 1, issued_ms: 0, capabilities, ...session },
});
const judge = (mode: 'warn' | 'telemetry', given: Heartbeat, from: HeartbeatSource | undefined) => {
  const { beat: counted, differences } = judgeHeartbeat(given, from, mode, nowMs);
  return [counted && [counted.pool, counted.capabilities, counted.active_jobs], differences];
};

describe('a heartbeat that is telemetry only', () => {
  it.each<[string, Heartbeat, HeartbeatSource | undefined, unknown]>([
    ['has the capabilities of the session', beat('main', ['GPU']), source(['main'], ['gpu', 'x']), [['main', ['gpu', 'x'], 3], []]],
    ['has no others', beat('main', ['gpu', 'tpu']), source(['main'], ['gpu']), [['main', ['gpu'], 3], ['capabilities_differ']]],
    ['has none without a session', beat('main', ['gpu']), source(['main']), [['main', [], 3], ['capabilities_differ']]],
    ['has none of a session that has ended', beat('main'), source(['main'], ['gpu'], { exp_ms: nowMs }), [['main', [], 3], []]],
    ['has none of a revoked session', beat('main'), source(['main'], ['gpu'], { revoked: true }), [['main', [], 3], []]],
    ['has the only pool of the credential', beat('other'), source(['main']), [['main', [], 3], ['pool_differs']]],
    ['selects one of several pools', beat('b'), source(['a', 'b']), [['b', [], 3], []]],
    ['does not count in none of them', beat('c'), source(['a', 'b']), [undefined, ['pool_differs']]],
    ['selects any pool where all are permitted', beat('c'), source(['*']), [['c', [], 3], []]],
    ['does not count without a pool', beat('a'), source([]), [undefined, ['pool_differs']]],
    ['does not count without a credential', beat('a'), undefined, [undefined, ['credential_invalid']]],
  ])('%s', (_, given, from, expected) => {
    expect(judge('telemetry', given, from)).toEqual(expected);
  });
}); // prettier-ignore

it('a heartbeat with a warning counts as it is, with the same differences', () => {
  expect(judge('warn', beat('c', ['gpu']), source(['a', 'b']))).toEqual([
    ['c', ['gpu'], 3],
    ['pool_differs', 'capabilities_differ'],
  ]);
  expect(judge('warn', beat('c'), undefined)).toEqual([['c', [], 3], ['credential_invalid']]);
});

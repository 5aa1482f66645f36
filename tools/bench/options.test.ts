import { meets } from './measure';
import { measures } from './measures';
import { chosen, readOptions } from './options';

describe('readOptions', () => {
  it.each([
    [['--profile', 'redis'], 'api, scheduler, engine, worker'],
    [['--profile', 'api', '--profile-load', 'idle'], 'drain, round-trips, runs'],
    [['--jobs', '0'], '--jobs'],
    [['--concurrency', 'many'], '--concurrency'],
    [['--write-docs', '--quick'], '--write-docs'],
    [['--fast'], '--fast'],
  ])('rejects %s with a reason', (args, why) => {
    expect(() => readOptions(args)).toThrow(why);
  });
});

it('leaves peers out unless they are asked for', () => {
  expect([readOptions([]).peers, readOptions(['--peers', '--only', 'drain']).peers]).toEqual([false, true]);
});

describe('chosen', () => {
  const names = (only?: string[]) => chosen(measures, only).map(({ name }) => name);

  it('selects all, named or matching measures', () => {
    expect(names()).toHaveLength(measures.length);
    expect(names(['drain', 'policy_*'])).toEqual([
      'policy_1_p99',
      'policy_100_p99',
      'policy_1000_p99',
      'policy_10000_p99',
      'policy_grpc_64_p99',
      'drain',
    ]);
  });

  it('rejects an unknown name and lists the known ones', () => {
    expect(() => names(['drian'])).toThrow(/drian.*roundtrip_64/);
  });
});

describe('the table of measures', () => {
  it('has unique names', () => {
    expect(new Set(measures.map(({ name }) => name)).size).toBe(measures.length);
  });

  it.each([
    ['submit', 'ratio', 0.95],
    ['drain', 'ratio', 0.22],
    ['drain_100k', 'ratio', 0.9],
    ['run_1step', 'ratio', 0.55],
    ['run_3step', 'ratio', 0.75],
    ['rss_api_drain_3', 'ratio', 1.05],
    ['roundtrip_1_p50', 'value', 4],
    ['roundtrip_messages', 'value', 12],
    ['roundtrip_64', 'value', 2_000],
    ['policy_1_p99', 'value', 20],
    ['policy_100_p99', 'value', 50],
    ['policy_1000_p99', 'value', 100],
    ['policy_10000_p99', 'value', 500],
    ['velocity', 'ratio', 0.55],
    ['publish_visible', 'value', 1000],
    ['policy_grpc_64_p99', 'value', 8],
    ['scan_clean', 'value', 60],
    ['scan_dirty', 'value', 10],
    ['redis_calls_per_job', 'value', 0.6],
    ['redis_calls_per_job_alone', 'value', 2],
    ['redis_commands_per_job', 'value', 48],
    ['cpu_us_per_job_all', 'value', 700],
    ['list_p99', 'value', 15],
    ['detail_p99', 'value', 5],
    ['fanout_1000', 'value', 0.4],
    ['stream_fanout', 'value', 50_000],
    ['stream_latency_p99', 'value', 20],
    ['agent_stop_p99', 'value', 1_000],
    ['fairness', 'value', 2],
    ['attested_heartbeats', 'value', 2_000],
  ])('has the documented target of %s', (name, of, bound) => {
    const mark = measures.find((each) => each.name === name)?.mark;
    expect([mark?.of, mark?.atLeast ?? mark?.atMost]).toEqual([of, bound]);
  });
});

describe('meets', () => {
  it.each([
    [{ of: 'value', atMost: 4 } as const, 4, undefined, true],
    [{ of: 'value', atMost: 4 } as const, 4.1, undefined, false],
    [{ of: 'ratio', atLeast: 0.9 } as const, 0, 0.9, true],
    [{ of: 'ratio', atLeast: 0.9 } as const, 9_999, 0.89, false],
    [{ of: 'ratio', atLeast: 0.9 } as const, 9_999, undefined, undefined],
    [undefined, 1, 1, undefined],
  ])('%j of %d with ratio %s: %s', (mark, value, ratio, met) => {
    expect(meets(mark, value, ratio)).toBe(met);
  });
});

import { settingMerge, type ConfigScope, type MergeField, type MergeRule } from '@svc/contract';
import fc from 'fast-check';
import { readAllowLists } from './allow-lists';
import { mergeConfig, type ConfigLayer } from './merge-config';

const system = (data: Record<string, unknown>): ConfigLayer => ({ scope: 'system', data });
const org = (data: Record<string, unknown>): ConfigLayer => ({ scope: 'org', data });
const team = (data: Record<string, unknown>): ConfigLayer => ({ scope: 'team', data });
const workflow = (data: Record<string, unknown>): ConfigLayer => ({ scope: 'workflow', data });

describe('restricting settings of several documents', () => {
  it('limits: the smallest wins, and 0 is unlimited', () => {
    const limits = (requests_per_minute: number) => ({ rate_limits: { requests_per_minute } });

    expect(mergeConfig([system(limits(10)), org(limits(1_000))])).toEqual(limits(10));
    expect(mergeConfig([system(limits(10)), org(limits(0))])).toEqual(limits(10));
    expect(mergeConfig([system(limits(0)), org(limits(5)), team(limits(7))])).toEqual(limits(5));
    expect(mergeConfig([system(limits(0)), org(limits(0))])).toEqual(limits(0));
  });

  it('limits: a document without the section or the setting lifts nothing', () => {
    const first = { limits: { max_concurrent_jobs: 5 }, safety: { denied_topics: ['job.a'], mine: 1 } };

    expect(mergeConfig([system(first), org({ limits: {}, safety: { mine: 2 } })])).toEqual({
      limits: { max_concurrent_jobs: 5 },
      safety: { denied_topics: ['job.a'], mine: 2 },
    });
  });

  it('limits: max_concurrent_jobs of one document does not lift concurrent_jobs of another', () => {
    const rates = system({ rate_limits: { concurrent_jobs: 5, queue_size: 2 } });

    for (const max_concurrent_jobs of [0, 1_000]) {
      expect(mergeConfig([rates, org({ limits: { max_concurrent_jobs } })])).toMatchObject({
        limits: { max_concurrent_jobs: 5 },
      });
    }
    const own = { limits: { max_concurrent_jobs: 100 }, rate_limits: { concurrent_jobs: 10 } };
    expect(mergeConfig([system(own)])).toEqual(own);
  });

  it('limits: a queue_size adds no room to the limit of another document', () => {
    const merged = (...layers: ConfigLayer[]) => mergeConfig(layers)['rate_limits'];

    expect(merged(system({ rate_limits: { concurrent_jobs: 5 } }), org({ rate_limits: { queue_size: 99 } }))).toEqual({
      ...{ concurrent_jobs: 5, queue_size: 0 },
    });
    expect(
      merged(
        system({ rate_limits: { concurrent_jobs: 5, queue_size: 3 } }),
        org({ rate_limits: { concurrent_jobs: 900, queue_size: 900 } }),
        team({ limits: { max_concurrent_jobs: 7 } }),
      ),
    ).toEqual({ concurrent_jobs: 5, queue_size: 2 });
    expect(merged(system({ limits: { max_concurrent_jobs: 5 } }), org({ rate_limits: { queue_size: 9 } }))).toEqual({
      queue_size: 0,
    });
    expect(
      merged(
        system({ rate_limits: { concurrent_jobs: 5, queue_size: 3 } }),
        org({ rate_limits: { concurrent_jobs: 9, queue_size: 1 } }),
      ),
    ).toEqual({ concurrent_jobs: 5, queue_size: 3 });
  });

  it('allow lists: an entry of each must match, and lists without a common entry allow nothing', () => {
    const allowed = (...allowed_topics: string[]) => ({ safety: { allowed_topics } });

    expect(mergeConfig([system(allowed('job.a.*')), org(allowed('job.*.b'))])).toEqual({
      safety: { allowed_topics: [['job.*.b'], ['job.a.*']] },
    });
    expect(mergeConfig([system(allowed('job.a')), org(allowed())])).toEqual(allowed('job.a'));
    expect(mergeConfig([system(allowed()), org(allowed())])).toEqual(allowed());
    expect(mergeConfig([system(allowed('job.a', 'job.b')), org(allowed('job.b'))])).toEqual(allowed('job.b'));
    expect(mergeConfig([system(allowed('job.b', 'job.a')), org(allowed('job.a', 'job.b'))])).toEqual(
      allowed('job.a', 'job.b'),
    );
  });

  it('allow lists: both names of the list of tools are joined within a document', () => {
    const mcp = (lists: object) => ({ safety: { mcp: lists } });

    expect(mergeConfig([system(mcp({ allow: ['a'] })), org(mcp({ allow_tools: ['b'] }))])).toEqual(
      mcp({ allow_tools: [['a'], ['b']] }),
    );
    expect(mergeConfig([org(mcp({ allow: ['a'], allow_tools: ['b'] }))])).toEqual(mcp({ allow_tools: ['b', 'a'] }));
  });

  it('deny lists: the entries of all documents apply', () => {
    const denied = (...denied_memory_ids: string[]) => ({ context: { denied_memory_ids } });

    expect(mergeConfig([system(denied('b', 'a')), org(denied()), team(denied('c', 'a'))])).toEqual(
      denied('a', 'b', 'c'),
    );
  });

  it('an unreadable list is kept next to a readable one', () => {
    const merged = mergeConfig([
      system({ context: { denied_memory_ids: 'secret', allowed_memory_ids: [1] } }),
      org({ context: { denied_memory_ids: ['x'], allowed_memory_ids: ['a'] } }),
    ]);

    expect(merged).toEqual({ context: { denied_memory_ids: ['x', ['secret']], allowed_memory_ids: [['a'], [1]] } });
  });

  it('unreadable values lift nothing', () => {
    const limit = { limits: { max_concurrent_jobs: 5 } };

    for (const other of ['text', [], { max_concurrent_jobs: '9' }, { max_concurrent_jobs: -1 }, null]) {
      expect(mergeConfig([system(limit), org({ limits: other })])).toEqual(limit);
    }
    expect(mergeConfig([org({ context: 'text' })])).toEqual({ context: 'text' });
  });

  it('choices and switches: the stricter wins', () => {
    expect(
      mergeConfig([
        system({ safety: { injection_detection: true, pii_action: 'warn' }, mcp: { tools: { jobs: { enabled: false } } } }),
        org({
          safety: { injection_detection: false, pii_action: 'redact', mcp: { allow_plain_http: true } },
          mcp: { tools: { jobs: { enabled: true }, runs: { enabled: true } } },
          scheduler: { input_fail_mode: 'closed', weight: 2 },
        }),
        team({ safety: { mcp: { allow_plain_http: false } }, scheduler: { input_fail_mode: 'open', weight: 3 } }),
      ]),
    ).toEqual({
      safety: { injection_detection: true, pii_action: 'redact', mcp: { allow_plain_http: false } },
      mcp: { tools: { jobs: { enabled: false }, runs: { enabled: true } } },
      scheduler: { input_fail_mode: 'closed', weight: 3 },
    });
  }); // prettier-ignore

  it('a team loosens no default that the system and the org leave in effect', () => {
    const lax = {
      safety: { injection_detection: false, pii_action: 'warn', pii_types_to_detect: ['ssn'] },
      context: { max_context_tokens: 1_000_000, cross_tenant_access: true },
      approvals: { run_starter: 'allow' },
      scheduler: { input_fail_mode: 'open' },
    };

    expect(mergeConfig([team(lax)])).toEqual({
      safety: { injection_detection: true, pii_action: 'block', pii_types_to_detect: ['email', 'phone', 'ssn'] },
      context: { max_context_tokens: 4_000, cross_tenant_access: false },
      approvals: { run_starter: 'deny_policy_holds' },
      scheduler: {},
    });
    expect(mergeConfig([org(lax), team({ approvals: { run_starter: 'allow' } })])).toEqual(lax);
  });

  it('merging is idempotent', () => {
    const layers = [
      system({ safety: { allowed_topics: ['a*'], mcp: { allow: ['x'] } }, limits: { max_concurrent_jobs: 3 } }),
      org({ safety: { allowed_topics: ['*b'], mcp: { allow: ['y'] } }, rate_limits: { concurrent_jobs: 2 } }),
    ];
    const merged = mergeConfig(layers);

    expect(mergeConfig([org(merged)])).toEqual(merged);
    expect(mergeConfig([org(merged), workflow({})])).toEqual(merged);
  });
});

describe('all other settings', () => {
  it('the narrowest document wins: per setting in a section with restricting ones, else for the whole section', () => {
    expect(
      mergeConfig([
        system({ retry: { max_retries: 9, max_backoff: '1m' }, resources: { default_priority: 'batch' }, other: { a: 1 } }),
        org({ retry: { max_retries: 1 }, resources: { preemption_enabled: false }, other: { b: 1 } }),
      ]),
    ).toEqual({
      retry: { max_retries: 1 },
      resources: { default_priority: 'batch', preemption_enabled: false },
      other: { b: 1 },
    });
  }); // prettier-ignore

  it('names of the object prototype are ordinary settings', () => {
    const data = JSON.parse('{"safety": {"__proto__": {"a": 1}, "constructor": 2}, "toString": 3}') as object;

    const merged = mergeConfig([org({ ...data }), team({ safety: { x: 1 } })]);

    expect(Object.keys(merged['safety'] as object).sort()).toEqual(['__proto__', 'constructor', 'x']);
    expect(merged['toString']).toBe(3);
  });
});

interface Leaf {
  path: readonly string[];
  rule: MergeRule;
}

const leavesUnder = (path: readonly string[], { rule, fields }: MergeField): Leaf[] => [
  ...(rule ? [{ path, rule }] : []),
  ...Object.entries(fields ?? {}).flatMap(([name, field]) => leavesUnder([...path, name], field)),
];
const leaves = Object.entries(settingMerge).flatMap(([name, field]) => (field.rule ? [] : leavesUnder([name], field)));
const restricting = leaves.filter(({ rule }) => rule.kind !== 'narrowest');

const names = ['a', 'b', 'c', 'a*', '*b', '*'];
const valueFor = (rule: MergeRule): fc.Arbitrary<unknown> => {
  switch (rule.kind) {
    case 'limit':
    case 'lowest':
    case 'added':
      return fc.nat(6);
    case 'strictest':
      return fc.constantFrom(...rule.order);
    case 'switches':
      return fc.dictionary(fc.constantFrom('a', 'b'), fc.record({ enabled: fc.boolean() }));
    default:
      return fc.array(fc.constantFrom(...names), { maxLength: 3 });
  }
};

const nest = ([name = '', ...rest]: readonly string[], value: unknown): Record<string, unknown> => ({
  [name]: rest.length === 0 ? value : nest(rest, value),
});
const readAt = (data: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], data);

/** Merges objects without regard to rules, to build a document of settings. */
const put = (into: Record<string, unknown>, from: Record<string, unknown>): Record<string, unknown> => ({
  ...into,
  ...Object.fromEntries(
    Object.entries(from).map(([name, value]) => {
      const old = into[name];
      const isDeeper = typeof old === 'object' && old !== null && !Array.isArray(old) && typeof value === 'object';
      return [name, isDeeper ? put(old as Record<string, unknown>, value as Record<string, unknown>) : value];
    }),
  ),
});

const scopes: readonly ConfigScope[] = ['system', 'org', 'team', 'workflow', 'step'];
const layer = (of: readonly Leaf[], from: readonly ConfigScope[] = scopes): fc.Arbitrary<ConfigLayer> =>
  fc.record({
    scope: fc.constantFrom(...from),
    data: fc
      .tuple(...of.map(({ path, rule }) => fc.option(valueFor(rule).map((value) => nest(path, value)), { freq: 2, nil: {} })))
      .map((parts) => parts.reduce<Record<string, unknown>>(put, {})),
  }); // prettier-ignore

const isWithin = (one: number, other: number) => (other <= 0 ? true : one > 0 && one <= other);
/** Jobs that the intake of this configuration accepts; 0 = unlimited. As in `submit-job.ts`. */
const intake = (data: Record<string, unknown>) => {
  const number = (path: string) => readAt(data, path.split('.')) as number | undefined;
  const jobs = number('limits.max_concurrent_jobs') ?? number('rate_limits.concurrent_jobs') ?? 0;
  return jobs > 0 ? jobs + (number('rate_limits.queue_size') ?? 0) : 0;
};
const matches = (list: readonly string[], name: string) =>
  list.some((glob) => new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(name));
const allows = (value: unknown, name: string) => readAllowLists(value).every((list) => matches(list, name));
const texts = ['a', 'b', 'c', 'ab', 'xb', 'z'];

function isAsStrict(rule: MergeRule, merged: unknown, single: unknown): boolean {
  if (single === undefined) return true;
  switch (rule.kind) {
    case 'limit':
      return isWithin(merged as number, single as number);
    case 'lowest':
      return (merged as number) <= (single as number);
    case 'strictest':
      return merged === undefined
        ? single === rule.order.at(-1)
        : rule.order.indexOf(merged as string) <= rule.order.indexOf(single as string);
    case 'union':
      return (single as string[]).every((entry) => (merged as string[]).includes(entry));
    case 'every_list':
      return texts.every((text) => !allows(merged, text) || allows(single, text));
    case 'switches':
      return Object.entries(single as Record<string, { enabled: boolean }>).every(
        ([name, { enabled }]) => enabled || !(merged as Record<string, { enabled: boolean }>)[name]?.enabled,
      );
    default:
      return true;
  }
}

describe('for any set of documents', () => {
  const documents = fc.array(layer(restricting), { minLength: 1, maxLength: 5 });

  it('the merged settings are as strict as each single document', () => {
    fc.assert(
      fc.property(documents, (layers) => {
        const merged = mergeConfig(layers);
        for (const one of layers) {
          for (const { path, rule } of restricting) {
            // The two names of the list of tools are one list of a document.
            const single = rule.kind === 'every_list' ? mergeConfig([one]) : one.data;
            if (!isAsStrict(rule, readAt(merged, path), readAt(single, path))) throw new Error(path.join('.'));
          }
          expect(isWithin(intake(merged), intake(one.data))).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('their order does not matter', () => {
    const shuffled = documents.chain((layers) =>
      fc.tuple(fc.constant(layers), fc.shuffledSubarray(layers, { minLength: layers.length })),
    );
    fc.assert(
      fc.property(shuffled, ([layers, others]) => {
        expect(mergeConfig(others)).toEqual(mergeConfig(layers));
      }),
      { numRuns: 200 },
    );
  });

  it('a further document of a team, workflow or step loosens nothing', () => {
    const narrow = layer(restricting, ['team', 'workflow', 'step']);

    fc.assert(
      fc.property(documents, narrow, (layers, more) => {
        const [before, after] = [mergeConfig(layers), mergeConfig([...layers, more])];
        for (const { path, rule } of restricting) {
          if (!isAsStrict(rule, readAt(after, path), readAt(before, path))) throw new Error(path.join('.'));
        }
        expect(isWithin(intake(after), intake(before))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

import { checkDefinition } from './check-definition';
import { getFaults, harbourIntake, workflow } from './definition.testing';

const job = { topic: 'job.a' };
const after = (...depends_on: string[]) => ({ ...job, depends_on });

describe('a valid definition', () => {
  it('passes, as the example of the contract does', () => {
    const checked = checkDefinition(harbourIntake);

    expect(checked).toEqual({ kind: 'ok', definition: harbourIntake });
  });

  it('may be sent back as returned: server-set and unset fields are dropped', () => {
    const answered = {
      ...workflow({ a: { id: 'a', name: '', type: 'worker', depends_on: [], condition: null, topic: 'job.a' } }),
      team_id: '',
      created_by: 'ada',
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
    };

    expect(checkDefinition(answered)).toEqual({
      kind: 'ok',
      definition: { ...workflow({ a: { type: 'worker', depends_on: [], topic: 'job.a' } }), timeout_sec: 0 },
    });
  });

  it.each<[string, object]>([
    [
      'every kind',
      {
        llm: { type: 'llm', input: { prompt: 'p', priority: 'batch' } },
        ask: {
          type: 'approval',
          depends_on: ['llm'],
          exclude_starter: true,
          gate: {
            expires_sec: 60,
            on_expiry: 'escalate',
            escalate_to: 'operator',
            remind_sec: 20,
            quorum: 2,
            deny_requester: true,
          },
        },
        signal: { type: 'signal', signal: 'docked', timeout_sec: 60, depends_on: ['ask'] },
        enough: { type: 'condition', condition: '${steps.llm.output.ok}', depends_on: ['signal'] },
        keep: {
          type: 'storage',
          input: { operation: 'write', key: 'totals.kept', value: '${steps.enough.output}' },
          depends_on: ['enough'],
        },
        fan: {
          type: 'parallel',
          input: { steps: ['one', 'two'], strategy: 'n_of_m', required: 1 },
          depends_on: ['keep'],
        },
        one: { type: 'http', input: { url: '${steps.keep.output.value}' }, on_error: 'recover' },
        two: { type: 'script', depends_on: ['fan'] },
        recover: {
          type: 'notify',
          input: { message: '${input.error.message} ${error.code} ${steps.one.error.message}' },
        },
        rounds: {
          type: 'loop',
          depends_on: ['fan'],
          input: {
            body_step: 'round',
            max_iterations: 3,
            while: 'loop.index < 5',
            until: "steps.round.output == 'done'",
          },
        },
        round: { type: 'container', input: { turn: '${loop.iteration}', first: '${steps.one.output}' } },
        again: {
          type: 'loop',
          topic: 'job.poll',
          depends_on: ['rounds'],
          input: { seen: '${loop.previous_output}', until: 'loop.previous_output.done' },
        },
        child: {
          type: 'subworkflow',
          depends_on: ['again'],
          input: {
            workflow_id: 'other',
            input_mapping: { all: '${steps.round.output}' },
            output_mapping: { n: '${child.output.n}' },
          },
        },
        later: { type: 'delay', delay_until: '2030-02-28T08:00:00+01:00', depends_on: ['child'] },
        person: { type: 'input', depends_on: ['later'] },
      },
    ],
    [
      'a switch over a map of literals',
      {
        s: { type: 'switch', condition: 'input.n', input: { cases: { 1: 'a' }, default_step: 'b' } },
        a: after('s'),
        b: after('s'),
      },
    ],
    ['a comma list of children', { p: { type: 'parallel', input: { steps: 'a, b' } }, a: job, b: job }],
    ['no children at all', { p: { type: 'parallel', input: { steps: [] } } }],
    [
      'what undoes a step reads what it did',
      { a: { ...job, compensation: { topic: 'undo', input: { bay: '${steps.a.output.bay}' } } } },
    ],
    ['a step by a computed name', { a: job, b: { ...after('a'), input: { x: '${steps[input.which].output}' } } }],
    [
      'what handled the error of a dependency',
      { a: { ...job, on_error: 'h' }, h: job, b: { ...after('a'), input: { x: '${steps.h.output}' } } },
    ],
    [
      'a handler of two, and one of a handler',
      {
        a: { ...job, on_error: 'h' },
        b: { ...job, on_error: 'h' },
        h: { ...job, on_error: 'i' },
        i: { ...job, input: { x: '${steps.a.error}${steps.h.error}' } },
      },
    ],
    ['ids that are words of the language', { constructor: job, toString: after('constructor') }],
    ['inputs of one’s own', { n: { type: 'notify', input: { message: 'm', colour: 'red' } } }],
  ])('passes: %s', (_, steps) => {
    expect(getFaults(workflow(steps))).toEqual([]);
  });

  it('may refer to registered schemas', () => {
    const steps = { a: { ...job, input_schema_id: 'pack/A', output_schema_id: 'pack/B' } };

    expect(getFaults(workflow(steps), { schemaIds: new Set(['pack/A']) })).toEqual([
      'steps.a.output_schema_id: names a schema that is not registered: register it first',
    ]);
  });
});

describe('all faults are reported at once', () => {
  it('each with its path, in document order', () => {
    const faults = getFaults({
      id: 'w',
      name: '',
      timeout_sec: 700_000,
      nmae: 'x',
      input_schema: { type: 'objekt' },
      steps: {
        'a b': job,
        weigh: { depends_on: ['nowhere', 5, 'tlaly'], retry: { max_retries: 101, multiplier: 0 } },
        tally: { type: 'transfrom', depends_on: ['weigh'], input: { x: '${1 +}' } },
        gate: { type: 'approval', for_each: 'input.x', depends_on: ['gate'] },
      },
    });

    expect(faults.map((text) => text.split(':')[0])).toEqual([
      'timeout_sec', 'nmae', 'org_id', 'name', 'input_schema.type', 'steps["a b"]', 'steps.weigh.depends_on[1]',
      'steps.weigh.retry.max_retries', 'steps.weigh.retry.multiplier', 'steps.weigh.depends_on[0]',
      'steps.weigh.depends_on[2]', 'steps.tally.type', 'steps.tally.input.x', 'steps.gate.for_each',
      'steps.gate.depends_on[0]',
    ]); // prettier-ignore
    expect(faults).toContain('nmae: is not a known field: remove it (did you mean name?)');
    expect(faults).toContain('steps.weigh.depends_on[2]: names "tlaly", which is not a step (did you mean tally?)');
    expect(faults).toContain('steps.gate.depends_on[0]: is the step itself: remove it');
  });

  it('with the number of further faults beyond the limit', () => {
    const steps = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`s${i}`, { topic: 5 }]));

    const faults = getFaults(workflow(steps));

    expect(faults).toHaveLength(101);
    expect(faults.at(-1)).toBe(': and 200 more: fix these first');
  });
});

describe('size', () => {
  it.each<[string, unknown, string]>([
    ['not an object', [], 'a workflow must be an object'],
    ['nothing', null, 'a workflow must be an object'],
    ['too long', workflow({ a: { ...job, input: { x: 'é'.repeat(600_000) } } }), 'bytes long: at most 1048576'],
    ['too deep', workflow({ a: { ...job, input: { x: JSON.parse('['.repeat(9_000) + ']'.repeat(9_000)) as unknown } } }), 'deeper than 64'], // prettier-ignore
    ['no steps', workflow({}), 'steps: must contain at least one step'],
    ['steps as a list', workflow([]), 'steps: must be an object, not a list'],
  ])('%s', (_, raw, message) => {
    expect(getFaults(raw).join()).toContain(message);
  });

  it('more steps than the caller allows', () => {
    expect(getFaults(workflow({ a: job, b: job, c: job }), { maxSteps: 2 })).toEqual(['steps: has 3 steps: at most 2']);
  });

  it('a thousand steps, each waiting for ten before it and reading one, are checked quickly', () => {
    const steps = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => {
        const depends_on = Array.from({ length: Math.min(i, 10) }, (_, back) => `s${i - back - 1}`);
        return [`s${i}`, { ...job, depends_on, ...(i > 0 && { input: { x: '${steps.s0.output}' } }) }];
      }),
    );

    expect(getFaults(workflow(steps))).toEqual([]);
  });

  it('schemas with too many parts are not compiled', () => {
    const schema = (n: number) => ({ title: `${n}`, anyOf: Array.from({ length: 600 }, () => ({ type: 'null' })) });
    let compiled = 0;
    const compileSchema = () => {
      compiled++;
      return { kind: 'missing' as const, id: 'urn:x' };
    };
    const steps = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`s${n}`, { ...job, input_schema: schema(n) }]),
    );

    const faults = getFaults(workflow(steps), { compileSchema });

    expect(compiled).toBe(3);
    expect(faults).toContain('steps.s0.input_schema: refers to urn:x, which is not registered: register it first');
    expect(faults.at(-1)).toContain('steps.s3.input_schema: the schemas of this workflow have more than 2000 parts');
  });
});

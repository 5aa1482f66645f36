import { getFaults, workflow } from './definition.testing';

const job = { topic: 'job.a' };
const after = (...depends_on: string[]) => ({ ...job, depends_on });
const one = (step: object) => ({ a: step });
const withBody = (input: object) => ({ a: { type: 'loop', input: { body_step: 'b', ...input } }, b: job });
const buildSwitch = (input: object, more: object = {}) => ({
  s: { type: 'switch', condition: 'input.x', input },
  ...more,
});

/** Steps, and the only fault they have. */
type Rule = [object, string];

describe.each<[string, Rule[]]>([
  [
    'fields',
    [
      [
        one({ ...job, timout_sec: 5 }),
        'steps.a.timout_sec: is not a known field: remove it (did you mean timeout_sec?)',
      ],
      [one({ type: 'wroker' }), 'steps.a.type: must be one of worker, llm, '],
      [one({ topic: 'cargo' }), 'steps.a.topic: must be job. and'],
      [one({ topic: 'job..x' }), 'steps.a.topic: must be job. and'],
      [one({ id: 'b', ...job }), 'steps.a.id: must be "a", its key in the map'],
      [{ '-a': job }, 'steps.-a: a step’s id must be letters'],
      [{ ['x'.repeat(65)]: job }, 'the id is 65 characters long: at most 64'],
      [one({ ...job, retry: { max_retries: 1.5 } }), 'steps.a.retry.max_retries: must be a whole number from 0 to 100'],
      [one({ ...job, retry: { multiplier: 0.5 } }), 'steps.a.retry.multiplier: must be a number from 1'],
      [
        one({ ...job, retry: { initial_backoff_sec: 9, max_backoff_sec: 3 } }),
        'steps.a.retry.max_backoff_sec: is less than',
      ],
      [one({ ...job, timeout_sec: 604_801 }), 'steps.a.timeout_sec: must be a whole number from 0 to 604800'],
      [one({ ...job, timeout_sec: -1 }), 'steps.a.timeout_sec: must be'],
      [one({ ...job, policy_gate: 'maybe' }), 'steps.a.policy_gate: must be one of allow, deny, require_approval'],
      [one({ ...job, meta: { actor_type: 'robot' } }), 'steps.a.meta.actor_type: must be one of human, service'],
      [one({ ...job, meta: { requires: ['x', 3] } }), 'steps.a.meta.requires[1]: must be a string, not a number'],
      [one({ ...job, route_labels: { gpu: true } }), 'steps.a.route_labels.gpu: must be a string, not a boolean'],
      [one({ ...job, join: 'some' }), 'steps.a.join: must be one of all, any'],
      [one({ ...job, concurrency: { limit: 2 } }), 'steps.a.concurrency.key: is required'],
      [
        one({ ...job, concurrency: { key: 'k', limit: 0 } }),
        'steps.a.concurrency.limit: must be a whole number from 1',
      ],
      [
        one({ ...job, concurrency: { key: 'k', limit: 1, strategy: 'newest' } }),
        'steps.a.concurrency.strategy: must be one of queue, cancel_newest, cancel_oldest',
      ],
      [one({ ...job, rate: { key: 'k', limit: 1, per: '25h' } }), 'steps.a.rate.per: must be a time such as 30s'],
      [one({ ...job, debounce: { key: 'k', period: 30 } }), 'steps.a.debounce.period: must be a time such as 30s'],
      [one({ ...job, singleton: { key: 'k'.repeat(257) } }), 'steps.a.singleton.key: is 257 characters long'],
      [one({ ...job, singleton: { key: 'a\u0000b' } }), 'steps.a.singleton.key: must not contain control characters'],
      [one({ ...job, singleton: { key: '${input.' } }), 'steps.a.singleton.key: '],
      [
        one({ ...job, rate: { key: '${item}', limit: 1, per: '1s' } }),
        'steps.a.rate.key: uses item, which only exists',
      ],
      [
        { a: { ...job, singleton: { key: '${steps.b.output}' } }, b: job },
        'steps.a.singleton.key: reads steps.b, which may not have ended by then: add b to the depends_on of a',
      ],
      [one({ ...job, input: 'x' }), 'steps.a.input: must be an object'],
      [one({ ...job, result_data_path: 'a..b' }), 'steps.a.result_data_path: must be names with single dots'],
      [one({ ...job, output_path: 'steps.b' }), 'steps.a.output_path: must not be in ctx.steps'],
      [one({ ...job, output_path: 'ctx.steps.b' }), 'steps.a.output_path: must not be in ctx.steps'],
      [one({ ...job, output_path: 'x.__proto__.y' }), 'steps.a.output_path: must not contain __proto__'],
      [one({ ...job, output_schema: { type: 'x' } }), 'steps.a.output_schema.type: is not a valid JSON Schema'],
      [
        one({ ...job, input_schema: { $ref: 'urn:x:other' } }),
        'steps.a.input_schema: refers to urn:x:other, which is not registered',
      ],
      [one({ ...job, input_schema: {}, input_schema_id: 'x' }), 'steps.a.input_schema_id: conflicts with input_schema'],
      [one({ ...job, compensation: {} }), 'steps.a.compensation.topic: is required'],
      [one({ ...job, compensation: { topic: 'no way' } }), 'steps.a.compensation.topic: must be job. and'],
    ],
  ],
  [
    'fields of other kinds',
    [
      [one({ type: 'approval', for_each: 'input.x' }), 'steps.a.for_each: does not apply to type approval'],
      [one({ ...job, max_parallel: 2 }), 'steps.a.max_parallel: applies only with for_each'],
      [one({ ...job, fail_fast: true }), 'steps.a.fail_fast: applies only with for_each'],
      [
        one({ type: 'transform', max_parallel: 2 }),
        'steps.a.max_parallel: does not apply to type transform: remove it (it applies to parallel steps',
      ],
      [
        one({ type: 'notify', compensation: { topic: 'x' } }),
        'steps.a.compensation: does not apply to type notify: remove it (it applies to jobs (worker,',
      ],
      [
        one({ ...job, gate: { quorum: 2 } }),
        'steps.a.gate: does not apply to type worker: remove it (it applies to approval steps)',
      ],
      [one({ ...job, signal: 'x' }), 'steps.a.signal: does not apply to type worker'],
      [one({ ...job, delay_sec: 5 }), 'steps.a.delay_sec: does not apply to type worker'],
      [one({ type: 'delay', delay_sec: 5, output_path: 'x' }), 'steps.a.output_path: does not apply to type delay'],
      [
        { a: { type: 'loop', topic: 'job.x', input: { body: 'b' } }, b: job },
        'steps.a.topic: does not apply to type loop',
      ],
    ],
  ],
  [
    'required fields of a kind',
    [
      [one({ type: 'condition' }), 'steps.a.condition: is required'],
      [one({ type: 'delay' }), 'steps.a: needs delay_sec or delay_until'],
      [one({ type: 'delay', delay_until: '2030-02-30T00:00:00Z' }), 'steps.a.delay_until: must be an RFC 3339 time'],
      [one({ type: 'delay', delay_until: 'tomorrow' }), 'steps.a.delay_until: must be an RFC 3339 time'],
      [one({ type: 'storage', input: { key: 'x' } }), 'steps.a.input.operation: is required'],
      [one({ type: 'storage', input: { operation: 'read' } }), 'steps.a.input.key: is required'],
      [
        one({ type: 'storage', input: { operation: 'erase', key: 'x' } }),
        'steps.a.input.operation: must be one of read, write, delete',
      ],
      [
        one({ type: 'storage', input: { operation: 'write', key: 'steps.x' } }),
        'steps.a.input.key: must not be in ctx.steps',
      ],
      [one({ type: 'parallel' }), 'steps.a.input.steps: is required'],
      [
        { a: { type: 'parallel', input: { steps: ['b'], strategy: 'most' } }, b: job },
        'steps.a.input.strategy: must be one of all, any, n_of_m',
      ],
      [
        { a: { type: 'parallel', input: { steps: ['b'], stratgy: 'any' } }, b: job },
        'steps.a.input.stratgy: is not read by a parallel step: did you mean strategy?',
      ],
      [
        { a: { type: 'parallel', input: { steps: ['b'], strategy: 'n_of_m' } }, b: job },
        'steps.a.input.required: is required',
      ],
      [
        { a: { type: 'parallel', input: { steps: ['b'], strategy: 'n_of_m', required: 2 } }, b: job },
        'steps.a.input.required: must be a whole number from 1 to 1',
      ],
      [withBody({ max_iterations: 0 }), 'steps.a.input.max_iterations: must be a whole number from 1 to 10000'],
      [withBody({ condition: 'true', while: 'true' }), 'steps.a.input.while: conflicts with condition'],
      [withBody({ until: 5 }), 'steps.a.input.until: must be an expression'],
      [withBody({ body: 'b' }), 'steps.a.input.body: conflicts with body_step'],
      [one({ type: 'subworkflow' }), 'steps.a.input.workflow_id: is required'],
      [one({ type: 'subworkflow', input: { workflow_id: 'w' } }), 'steps.a.input.workflow_id: is this workflow'],
      [
        one({ type: 'subworkflow', input: { workflow_id: 'x', input_mapping: 5 } }),
        'steps.a.input.input_mapping: must be an object',
      ],
      [one({ type: 'approval', gate: { on_expiry: 'reject' } }), 'steps.a.gate.on_expiry: needs expires_sec'],
      [
        one({ type: 'approval', gate: { expires_sec: 5, on_expiry: 'escalate' } }),
        'steps.a.gate.escalate_to: is required',
      ],
      [one({ type: 'approval', gate: { escalate_after_sec: 5 } }), 'steps.a.gate.escalate_to: is required'],
      [one({ type: 'approval', gate: { escalate_to: 'x' } }), 'steps.a.gate.escalate_to: needs escalate_after_sec'],
      [one({ type: 'approval', gate: { expires_sec: 5, remind_sec: 5 } }), 'steps.a.gate.remind_sec: must be less'],
      [
        one({ type: 'approval', gate: { expires_sec: 5, escalate_to: 'x', escalate_after_sec: 6 } }),
        'steps.a.gate.escalate_after_sec: must be less',
      ],
      [one({ type: 'approval', gate: { quorum: 0 } }), 'steps.a.gate.quorum: must be a whole number from 1'],
    ],
  ],
  [
    'switches',
    [
      [buildSwitch({}), 'steps.s.input.cases: is required'],
      [{ s: { type: 'switch', input: { cases: { x: 'a' } } }, a: after('s') }, 'steps.s.condition: is required'],
      [buildSwitch({ cases: [5] }), 'steps.s.input.cases[0]: must be an object'],
      [buildSwitch({ cases: [{ match: 1 }] }), 'steps.s.input.cases[0]: needs next or step or target'],
      [
        buildSwitch({ cases: [{ next: 'a' }] }, { a: after('s') }),
        'steps.s.input.cases[0]: needs when or match or value',
      ],
      [
        buildSwitch({ cases: [{ match: 1, when: 2, next: 'a' }] }, { a: after('s') }),
        'steps.s.input.cases[0]: has when and match',
      ],
      [
        buildSwitch({ cases: [{ match: [1], next: 'a' }] }, { a: after('s') }),
        'steps.s.input.cases[0].match: must be a string',
      ],
      [
        buildSwitch({ cases: [{ match: 1, next: 'aa' }] }, { a: after('s') }),
        'steps.s.input.cases[0].next: names "aa", which is not a step (did you mean a?)',
      ],
      [
        buildSwitch({ cases: [{ match: 1, next: 'a' }], default: 'b' }, { a: after('s'), b: job }),
        'steps.s.input.default: b would not wait for the choice: add s to its depends_on',
      ],
      [buildSwitch({ cases: { x: '${input.next}' } }), 'steps.s.input.cases.x: must be a literal step id'],
      [buildSwitch({ cases: { x: 's' } }), 'steps.s.input.cases.x: is the switch itself'],
      [buildSwitch({ cases: { x: 'a' } }, { a: after('s'), p: { ...job, on_error: 'h' }, h: job }), ''],
      [
        { p: { type: 'parallel', input: { steps: ['s'] } }, ...buildSwitch({ cases: { x: 'a' } }), a: job },
        'steps.s.type: a switch cannot be run by p',
      ],
    ],
  ],
  [
    'relations between steps',
    [
      [{ a: job, b: after('aa') }, 'steps.b.depends_on[0]: names "aa", which is not a step (did you mean a?)'],
      [{ a: after('a') }, 'steps.a.depends_on[0]: is the step itself'],
      [{ a: after('c'), b: after('a'), c: after('b') }, 'closes a cycle: a → c → b → a'],
      [{ a: { ...job, on_error: 'x' } }, 'steps.a.on_error: names "x", which is not a step'],
      [{ a: { ...job, on_error: 'a' } }, 'steps.a.on_error: is the step itself'],
      [
        { s: { ...job, on_error: 'a' }, a: { ...job, on_error: 'b' }, b: { ...job, on_error: 'a' } },
        'closes a cycle of on_error: a → b → a',
      ],
      [
        { a: { ...job, on_error: 'h' }, h: job, b: after('h') },
        'steps.b.depends_on[0]: h only runs when a fails: depend on that step instead',
      ],
      [{ a: { ...job, on_error: 'h' }, h: after('a') }, 'steps.a.on_error: h depends on the step it should handle'],
      [
        { a: { ...job, on_error: 'h' }, b: after('a'), h: after('b') },
        'steps.a.on_error: h depends on the step it should handle',
      ],
      [
        { a: { ...job, on_error: 'h' }, h: { ...job, on_error: 'i' }, i: after('a') },
        'steps.h.on_error: i depends on the step it should handle',
      ],
      [
        { p: { type: 'parallel', input: { steps: ['c'] } }, c: { ...job, on_error: 'h' }, h: after('p') },
        'steps.c.on_error: h depends on the step it should handle',
      ],
      [
        { p: { type: 'parallel', input: { steps: ['c'] } }, c: job, b: after('c') },
        'steps.b.depends_on[0]: c is run by p: depend on p instead',
      ],
      [
        { p: { type: 'parallel', input: { steps: ['c'] }, depends_on: ['c'] }, c: job },
        'steps.p.depends_on[0]: c is run by this step',
      ],
      [
        { p: { type: 'parallel', input: { steps: ['c'] } }, c: job, a: { ...job, on_error: 'c' } },
        'steps.a.on_error: c is run by p and cannot wait',
      ],
      [{ p: { type: 'parallel', input: { steps: ['c', 'c'] } }, c: job }, 'steps.p.input.steps[1]: repeats c'],
      [
        { p: { type: 'parallel', input: { steps: ['c'] } }, q: { type: 'loop', input: { body: 'c' } }, c: job },
        'steps.q.input.body: c is run by p already',
      ],
      [{ p: { type: 'parallel', input: { steps: ['p'] } } }, 'steps.p.input.steps[0]: is the step itself'],
      [{ p: { type: 'loop', input: { body: 'p' } } }, 'steps.p.input.body: is the step itself: leave it out'],
      [
        { p: { type: 'parallel', input: { steps: ['q'] } }, q: { type: 'loop', input: { body: 'p' } } },
        'steps.q.input: closes a cycle of steps that run each other: p → q → p',
      ],
      [{ p: { type: 'parallel', input: { steps: ['x'] } } }, 'steps.p.input.steps[0]: names "x", which is not a step'],
      [{ p: { type: 'parallel', input: { steps: [5] } } }, 'steps.p.input.steps[0]: must be the id of a step'],
    ],
  ],
  [
    'expressions',
    [
      [one({ ...job, condition: 'input.x ==' }), 'steps.a.condition: '],
      [one({ ...job, input: { x: { y: ['${1 +}'] } } }), 'steps.a.input.x.y[0]: '],
      [
        one({ ...job, condition: 'inptu.x' }),
        'steps.a.condition: uses inptu, which is not known here (did you mean input?)',
      ],
      [one({ ...job, condition: 'steps.b.output' }), 'steps.a.condition: reads steps.b, which is not a step'],
      [one({ ...job, condition: 'steps.a.output' }), 'steps.a.condition: reads the step’s own output'],
      [
        { a: job, b: { ...job, input: { x: '${steps.a.output}' } } },
        'steps.b.input.x: reads steps.a, which may not have ended by then: add a to the depends_on of b',
      ],
      [
        { a: { ...job, input: { x: '${steps.b.output}' } }, b: after('a') },
        'steps.a.input.x: reads steps.b, which may not have ended by then: it comes after a',
      ],
      [
        {
          p: { type: 'parallel', input: { steps: ['c', 'd'] } },
          c: job,
          d: { ...job, input: { x: '${steps.c.output}' } },
        },
        'steps.d.input.x: reads steps.c, which may not have ended by then: both are run by p, in no defined order',
      ],
      [
        { p: { type: 'parallel', input: { steps: ['c'] } }, c: job, d: { ...job, input: { x: '${steps.c.output}' } } },
        'add p to the depends_on of d',
      ],
      [
        { a: { ...job, on_error: 'h' }, h: job, d: { ...job, input: { x: '${steps.h.output}' } } },
        'add a to the depends_on of d',
      ],
      [
        one({ ...job, input: { x: '${item}' } }),
        'steps.a.input.x: uses item, which only exists in the input and the limits of a step with for_each',
      ],
      [one({ ...job, for_each: 'item' }), 'steps.a.for_each: uses item, which only exists in'],
      [one({ ...job, input: { x: '${loop.index}' } }), 'steps.a.input.x: uses loop, which only exists in loops'],
      [
        one({ ...job, input: { x: '${error.code}' } }),
        'steps.a.input.x: uses error, which only exists in on_error steps',
      ],
      [
        one({ type: 'subworkflow', input: { workflow_id: 'x', input_mapping: { y: '${child.output}' } } }),
        'uses child, which only exists in the output_mapping',
      ],
      [
        one({ ...job, compensation: { topic: 'x', input: { y: '${steps.z.output}' } } }),
        'steps.a.compensation.input.y: reads steps.z, which is not a step',
      ],
    ],
  ],
])('%s', (_, rules) => {
  it.each(rules)('%j', (steps, fault) => {
    const faults = getFaults(workflow(steps));

    expect(faults).toHaveLength(fault === '' ? 0 : 1);
    expect(faults.join()).toContain(fault);
  });
});

describe('the workflow’s own fields', () => {
  it.each<[object, string]>([
    [{ id: '' }, 'id: is required'],
    [{ org_id: undefined }, 'org_id: is required'],
    [{ name: 'x'.repeat(257) }, 'name: is 257 characters long: at most 256'],
    [{ timeout_sec: 604_801 }, 'timeout_sec: must be a whole number from 0 to 604800'],
    [{ stpes: {} }, 'stpes: is not a known field: remove it (did you mean steps?)'],
    [{ input_schema: { type: 'strnig' } }, 'input_schema.type: is not a valid JSON Schema'],
    [{ parameters: [{ name: 'x' }, { name: 'x' }] }, 'parameters[1].name: x is a duplicate'],
    [{ parameters: [{ type: 'text' }] }, 'parameters[0].name: is required'],
    [{ on_failure: 'stop' }, 'on_failure: must be one of cancel_siblings, finish_siblings'],
    [{ output: { x: '${steps.z.output}' } }, 'output.x: reads steps.z, which is not a step'],
    [{ output: '${item}' }, 'output: uses item, which only exists in'],
  ])('%j', (rest, fault) => {
    const faults = getFaults(workflow({ a: job }, rest));

    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });

  it('an id that is not valid in a topic requires explicit topics', () => {
    expect(getFaults(workflow({ a: {}, b: job, c: { type: 'llm' } }, { id: 'pack/w' }))).toEqual([
      'steps.a.topic: is required, as the workflow’s id cannot be part of a topic',
    ]);
  });
});

it('steps that depend on each other through a cycle can never start', () => {
  const steps = { p: { type: 'parallel', input: { steps: ['c'] } }, c: { ...job, on_error: 'p' }, a: job };

  expect(getFaults(workflow(steps)).map((fault) => fault.slice(0, 27))).toEqual([
    'steps.p: can never start: e',
    'steps.c: can never start: e',
  ]);
});

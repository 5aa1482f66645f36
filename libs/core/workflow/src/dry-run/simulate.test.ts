import type { StepDefinition } from '../definition/workflow';
import { defaultExpressionLimits } from '../expressions/expression';
import { simulateRun, type StepForecast } from './simulate';

const forecast = (steps: Record<string, StepDefinition>, input: Record<string, unknown> = {}, isSpent = false) => {
  const definition = { id: 'harbour', org_id: 'acme', name: 'Harbour', timeout_sec: 0, steps };
  const given = { nowMs: 0, limits: defaultExpressionLimits, isSpent: () => isSpent };
  const outlooks = simulateRun(definition, input, given);
  return { order: outlooks.map(({ step }) => step), ...Object.fromEntries(outlooks.map((one) => [one.step, one])) } as {
    order: string[];
  } & Record<string, StepForecast>;
};
const runs = (all: object) =>
  Object.fromEntries(
    Object.entries(all).flatMap(([id, one]) => ((one as StepForecast).runs ? [[id, (one as StepForecast).runs]] : [])),
  );

describe('the forecast of a run', () => {
  it('lists steps in dependency order, each job with its topic and payload', () => {
    const all = forecast(
      {
        stow: {
          depends_on: ['weigh'],
          topic: 'job.stow',
          input: { crate: '${input.crate}', kg: '${steps.weigh.output}' },
        },
        weigh: { type: 'llm' },
        ask: { type: 'approval', depends_on: ['weigh'] },
        own: {},
      },
      { crate: 7 },
    );

    expect(all.order).toEqual(['weigh', 'stow', 'ask', 'own']);
    expect(all['weigh']?.job).toEqual({ topic: 'job.llm', payload: { crate: 7 } });
    expect(all['stow']?.job).toEqual({ topic: 'job.stow', payload: { crate: 7, kg: '${steps.weigh.output}' } });
    expect(all['own']?.job?.topic).toBe('job.workflow.harbour');
    expect(all['ask']).toEqual({ step: 'ask', type: 'approval', runs: 'yes', unresolved: [] });
  });

  it('evaluates conditions that the input determines; dependents of a skipped step still begin', () => {
    const steps: Record<string, StepDefinition> = {
      rush: { condition: 'input.rush' },
      after: { depends_on: ['rush'] },
      later: { depends_on: ['after'], condition: 'steps.after.output == 1' },
      last: { depends_on: ['later'] },
    };

    expect(runs(forecast(steps, { rush: false }))).toEqual({ rush: 'no', after: 'yes', later: 'unknown', last: 'yes' });
    expect(forecast(steps, { rush: true })['rush']).toMatchObject({ runs: 'yes', condition: true });
    expect(forecast(steps)['later']?.why).toContain('after returns');
  });

  it('follows the selected branch of a switch until the branches join', () => {
    const steps: Record<string, StepDefinition> = {
      lane: {
        type: 'switch',
        condition: 'input.lane',
        input: { cases: [{ match: 'fast', next: 'fast' }], default: 'slow' },
      },
      fast: { depends_on: ['lane'] },
      next: { depends_on: ['fast'] },
      slow: { depends_on: ['lane'] },
      join: { depends_on: ['next', 'slow'] },
    };

    const slow = forecast(steps, { lane: 'any' });
    expect(slow['lane']).toMatchObject({ condition: 'any', target: 'slow' });
    expect(runs(slow)).toEqual({ lane: 'yes', fast: 'no', next: 'no', slow: 'yes', join: 'yes' });
    expect(slow['fast']?.why).toBe('lane goes to slow');
    expect(runs(forecast(steps, { lane: 'fast' }))).toMatchObject({
      fast: 'yes',
      next: 'yes',
      slow: 'no',
      join: 'yes',
    });
    expect(runs(forecast({ ...steps, lane: { ...steps['lane'], depends_on: ['a'], condition: 'steps.a.output' }, a: {} }))) // prettier-ignore
      .toMatchObject({ lane: 'yes', fast: 'unknown', slow: 'unknown', join: 'unknown' });
  });

  it('knows the outputs of inline steps and of steps with mock_output', () => {
    const all = forecast(
      {
        tally: { type: 'transform', input: { count: '${length(input.crates)}' } },
        many: { type: 'condition', depends_on: ['tally'], condition: 'steps.tally.output.count > 1' },
        weigh: { mock_output: { kg: 12 } },
        heavy: { depends_on: ['weigh', 'many'], condition: 'steps.weigh.output.kg > 10 && steps.many.output' },
      },
      { crates: [1, 2] },
    );

    expect(all['many']?.condition).toBe(true);
    expect(all['heavy']).toMatchObject({ runs: 'yes', condition: true });
  });

  it('lists missing paths, wherever they are read', () => {
    const all = forecast(
      {
        a: {
          condition: 'input.order.rush != true',
          input: { text: 'for ${input.order.name}', all: '${input.crates}' },
        },
      },
      { order: { id: 1 }, crates: [] },
    );

    expect(all['a']).toMatchObject({ runs: 'yes', job: { payload: { text: 'for ', all: [] } } });
    expect(all['a']?.unresolved).toEqual(['input.order.rush', 'input.order.name']);
  });

  it('counts the items of a fan-out, and shows the job of the first', () => {
    const steps: Record<string, StepDefinition> = {
      weigh: { for_each: 'input.crates', input: { id: '${item.id}', at: '${index}' } },
    };

    const all = forecast(steps, { crates: [{ id: 'a' }, { id: 'b' }] });
    expect(all['weigh']).toMatchObject({ items: 2, job: { payload: { item: { id: 'a' }, id: 'a', at: 0 } } });
    expect(forecast(steps, { crates: [] })['weigh']).toMatchObject({
      items: 0,
      job: { payload: { id: '${item.id}' } },
    });
    expect(forecast(steps, { crates: 7 })['weigh']?.error).toContain('no list');
  });

  it('a step that certainly fails stops its dependents, unless its error is handled', () => {
    const bad: StepDefinition = { type: 'transform', input: { x: '${int("seven")}' } };
    const after: StepDefinition = { depends_on: ['a'] };

    const all = forecast({ a: bad, b: after, c: { depends_on: ['b'] } });
    expect(all['a']?.error).toMatch(/int/);
    expect(runs(all)).toEqual({ a: 'yes', b: 'no', c: 'no' });
    expect(runs(forecast({ a: { ...bad, on_error: 'h' }, b: after, h: {} }))).toEqual({
      a: 'yes',
      h: 'unknown',
      b: 'unknown',
    });
  });

  it('children depend on their composite, and names known only at run time are unknown', () => {
    const all = forecast({
      both: { type: 'parallel', input: { steps: ['one', 'two'] } },
      one: {},
      two: { condition: 'ctx.ready' },
      round: { type: 'loop', input: { body_step: 'work', max_iterations: 2 } },
      work: { input: { i: '${loop.index}' } },
    });

    expect(runs(all)).toEqual({ both: 'yes', one: 'yes', two: 'unknown', round: 'yes', work: 'unknown' });
    expect(all['two']?.why).toContain('ctx');
    expect(all['work']?.job?.payload).toEqual({ i: '${loop.index}' });
  });

  it('evaluates nothing after its time budget, and still lists every step', () => {
    const all = forecast(
      { a: { condition: 'input.x', input: { y: '${input.x}' } }, b: { depends_on: ['a'] } },
      { x: 1 },
      true,
    );

    expect(all['a']).toMatchObject({ runs: 'unknown', job: { payload: { y: '${input.x}' } } });
    expect(all.order).toEqual(['a', 'b']);
  });
});

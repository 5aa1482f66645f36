import fc from 'fast-check';
import type { StepDefinition, WorkflowDefinition } from '../definition/workflow';
import { buildDefinition } from './driver.testing';

const kinds = [
  'worker', 'worker', 'worker', 'transform', 'condition', 'delay', 'notify', 'approval', 'items', 'items', 'parallel',
  'loop', 'rounds', 'nested', 'switch', 'subworkflow',
] as const; // prettier-ignore

/** One top-level step; every shrunk value is still valid. */
const spec = fc.record({
  kind: fc.constantFrom(...kinds),
  deps: fc.array(fc.nat(6), { maxLength: 3 }),
  guard: fc.constantFrom(undefined, undefined, undefined, 'true', 'false'),
  joinAny: fc.boolean(),
  retries: fc.nat(2),
  handled: fc.constantFrom('no', 'no', 'own', 'chain', 'shared'),
  count: fc.nat(4),
  atOnce: fc.nat(3),
  failFast: fc.boolean(),
  needed: fc.nat(4),
  undone: fc.boolean(),
});
type Spec = typeof spec extends fc.Arbitrary<infer T> ? T : never;

export interface Case {
  definition: WorkflowDefinition;
  /** Seed for the end of every job, gate and child run. */
  fate: number;
  /** Seed for the order of events. */
  order: number;
}

export const cases = (onFailure: 'cancel_siblings' | 'finish_siblings'): fc.Arbitrary<Case> =>
  fc.record({
    definition: fc.array(spec, { minLength: 1, maxLength: 7 }).map((specs) => build(specs, onFailure)),
    fate: fc.nat(1_000_000),
    order: fc.nat(1_000_000),
  });

function build(specs: readonly Spec[], on_failure: 'cancel_siblings' | 'finish_siblings'): WorkflowDefinition {
  const steps: Record<string, StepDefinition> = {};
  specs.forEach((one, i) => {
    const id = `s${i}`;
    const depends_on = [...new Set(one.deps.filter((dep) => dep < i).map((dep) => `s${dep}`))];
    Object.assign(steps, buildBodies(id, one));
    steps[id] = {
      ...buildBody(id, one),
      depends_on,
      ...(one.joinAny && { join: 'any' as const }),
      ...(one.guard !== undefined && !['condition', 'switch'].includes(one.kind) && { condition: one.guard }),
      ...buildHandler(id, one, steps),
    };
  });
  for (const [id, step] of Object.entries(steps)) if (step.type === 'switch') addCases(id, step, steps);
  return buildDefinition(steps, { on_failure });
}

const buildJob = ({ retries, undone }: Spec): StepDefinition => ({
  retry: { max_retries: retries },
  ...(undone && { compensation: { topic: 'job.undo' } }),
});

function buildBody(id: string, one: Spec): StepDefinition {
  switch (one.kind) {
    case 'worker':
      return buildJob(one);
    case 'items':
      return { ...buildJob(one), for_each: `range_${one.count}`.replace('range_', 'input.lists.n'), max_parallel: one.atOnce, fail_fast: one.failFast }; // prettier-ignore
    case 'parallel': {
      const children = childIds(id, one.count);
      const required = Math.min(Math.max(one.needed, 1), Math.max(children.length, 1));
      return { type: 'parallel', input: { steps: children, strategy: 'n_of_m', required } };
    }
    case 'nested':
      return { type: 'loop', input: { body_step: `${id}_p`, max_iterations: one.count } };
    case 'loop':
      return { type: 'loop', input: { body_step: `${id}_b`, max_iterations: one.count } };
    case 'rounds':
      return { type: 'loop', input: { max_iterations: one.count }, retry: { max_retries: one.retries } };
    case 'condition':
      return { type: 'condition', condition: 'true' };
    case 'switch':
      return { type: 'switch', condition: String(one.needed), input: {} };
    case 'delay':
      return { type: 'delay', delay_sec: one.count };
    case 'subworkflow':
      return { type: 'subworkflow', input: { workflow_id: 'other' }, retry: { max_retries: one.retries } };
    default:
      return { type: one.kind };
  }
}

/** Steps that belong to a composite. */
function buildBodies(id: string, one: Spec): Record<string, StepDefinition> {
  const workers = (owner: string) =>
    childIds(owner, one.count).map((child) => [child, buildJob({ ...one, undone: false })]);
  if (one.kind === 'parallel') return Object.fromEntries(workers(id));
  if (one.kind === 'loop') {
    const isHandled = one.handled === 'chain';
    const body = { ...buildJob(one), ...(isHandled && { on_error: `${id}_bh` }) };
    return { [`${id}_b`]: body, ...(isHandled && { [`${id}_bh`]: {} }) };
  }
  if (one.kind !== 'nested') return {};
  const inner: StepDefinition = { type: 'parallel', input: { steps: childIds(`${id}_p`, one.count).join(', ') } };
  return { ...Object.fromEntries(workers(`${id}_p`)), [`${id}_p`]: inner };
}

const childIds = (owner: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${owner}_c${i}`);

function buildHandler(id: string, { handled, retries }: Spec, steps: Record<string, StepDefinition>): StepDefinition {
  if (handled === 'no') return {};
  if (handled === 'shared') {
    steps['rescue'] ??= { retry: { max_retries: 1 } };
    return { on_error: 'rescue' };
  }
  steps[`${id}_h`] = { retry: { max_retries: retries }, ...(handled === 'chain' && { on_error: `${id}_hh` }) };
  if (handled === 'chain') steps[`${id}_hh`] = { type: 'notify' };
  return { on_error: `${id}_h` };
}

/** A switch chooses between the steps that depend on it. */
function addCases(id: string, step: StepDefinition, steps: Record<string, StepDefinition>): void {
  const targets = Object.keys(steps).filter((other) => steps[other]?.depends_on?.includes(id));
  step.input = { cases: targets.map((next, match) => ({ match, next })), ...(targets[0] && { default: targets[0] }) };
}

export const lists = Object.fromEntries([0, 1, 2, 3, 4].map((n) => [`n${n}`, Array.from({ length: n }, (_, i) => i)]));

/** A deterministic number in [0, 1) from its arguments. */
export function chance(seed: number, ...words: (string | number)[]): number {
  let hash = seed ^ 0x9e3779b9;
  for (const char of words.join('|')) hash = Math.imul(hash ^ char.charCodeAt(0), 0x85ebca6b) ^ (hash >>> 13);
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

import { isStepEnded } from '@svc/lifecycle';
import type { Scope } from '../expressions/expression';
import type { StepContext } from '../steps/kind';
import type { Evaluated, ScopeOf } from './blueprint';
import type { Draft } from './draft';
import { itemPath } from './ids';
import { getStepOutput } from './output';
import type { StepRun } from './run-state';

/** The readable part of an ended step; undefined for others. See docs/reference/workflows.md#expressions. */
function toReadable(run: StepRun | undefined): Record<string, unknown> | undefined {
  if (!run || !isStepEnded(run.status)) return undefined;
  const { status, result_ptr, error } = run;
  const output = run.status === 'succeeded' ? getStepOutput(run) : undefined;
  return {
    status,
    ...(output !== undefined && { output }),
    ...(result_ptr !== undefined && { result_ptr }),
    ...(error && { error }),
  };
}

function toStepViews(draft: Draft, ids: readonly string[]): Record<string, unknown> {
  const wanted = ids.includes('*') ? Object.keys(draft.run.steps) : ids;
  return Object.fromEntries(
    wanted.flatMap((id): [string, unknown][] => {
      const view = toReadable(draft.peek(id));
      return view ? [[id, view]] : [];
    }),
  );
}

/** `ctx.steps` is lazy: building it for every item of a fan-out would cost items × steps. */
const buildContext = (draft: Draft): Record<string, unknown> => ({
  ...draft.run.context,
  get steps() {
    return toStepViews(draft, ['*']);
  },
});

/** Names that depend only on the run. */
function runScope(draft: Draft, stepsRead: readonly string[], names: readonly string[]): Record<string, unknown> {
  const { run, context } = draft;
  const { id, name } = context.blueprint.definition;
  return {
    input: run.input,
    ctx: names.includes('ctx') ? buildContext(draft) : {},
    steps: toStepViews(draft, stepsRead),
    run: {
      id: run.id,
      status: run.status,
      started_at: new Date(run.started_at_ms ?? context.nowMs).toISOString(),
      labels: run.labels ?? {},
    },
    workflow: { id, name },
    $now: context.nowMs,
  };
}

/** The innermost enclosing loop of a step, which may be the step itself. */
function findEnclosingLoop(at: StepContext): string | undefined {
  const { draft, node, index } = at;
  if (node.type === 'loop' && index !== undefined) return node.id;
  for (let owner = node.owner; owner !== undefined; owner = draft.context.blueprint.node(owner).owner) {
    if (draft.context.blueprint.node(owner).type === 'loop') return owner;
  }
  return undefined;
}

/** `loop` of a scope and of a payload. See docs/reference/workflows.md#steps. */
export function loopScope(at: StepContext): Record<string, unknown> {
  const round = at.draft.peek(at.path)?.progress?.ok ?? 0;
  const [body] = at.node.children;
  const last = round === 0 ? undefined : at.draft.peek(body ?? itemPath(at.node.id, round - 1));
  const output = last && getStepOutput(last);
  return { index: round, iteration: round + 1, ...(output !== undefined && { previous_output: output }) };
}

/** Names that a step or item may read besides those of the run. */
export function ownNames(at: StepContext): Record<string, unknown> {
  const { draft, node, index } = at;
  const run = draft.peek(node.id);
  const loop = findEnclosingLoop(at);
  const items = node.def.for_each === undefined ? undefined : run?.resolved_items;
  return {
    ...(items && index !== undefined && { item: items[index] ?? null, index }),
    ...(loop !== undefined && { loop: loopScope(draft.at(loop)) }),
    ...(run?.handles && { error: run.handles }),
  };
}

/** Scope of a step's templates and conditions. A handler reads the error it handles as `input.error` too. */
export const buildScope =
  (at: StepContext, extra: Scope = {}): ScopeOf =>
  ({ stepsRead, names }) => {
    const scope = runScope(at.draft, stepsRead, names);
    const own = ownNames(at);
    const input = own['error'] === undefined ? at.draft.run.input : { ...at.draft.run.input, error: own['error'] };
    return { ...scope, input, ...own, ...extra };
  };

/** Scope of the run's `output`. */
export const endScope =
  (draft: Draft): ScopeOf =>
  ({ stepsRead, names }) =>
    runScope(draft, stepsRead, names);

/** One shared object: prepared templates are cached by object. */
const emptyTemplate = Object.freeze({});

/** @param value a part of the definition; absent is an empty map */
export const render = (at: StepContext, value: unknown, extra?: Scope): Evaluated =>
  at.draft.context.blueprint.render(value ?? emptyTemplate, buildScope(at, extra));
export const evaluate = (at: StepContext, source: string, extra?: Scope): Evaluated =>
  at.draft.context.blueprint.evaluate(source, buildScope(at, extra));

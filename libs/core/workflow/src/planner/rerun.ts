import type { WorkflowDefinition } from '../definition/workflow';
import { defaultExpressionLimits } from '../expressions/expression';
import { Blueprint, type StepNode } from './blueprint';
import { contextPath, readPath, writePath } from './context-path';
import type { RerunSeed } from './events';
import type { RunState, StepRun } from './run-state';

/** `message`: why the run cannot be rerun from this step. */
export type SeedOutcome = { kind: 'ok'; seed: RerunSeed } | { kind: 'bad'; message: string };

/**
 * Selects the state that a rerun from a step copies from an earlier run: the steps it depends on, and their context entries.
 * All must have succeeded, or been skipped by a switch or a guard, and none may be compensated. Without a step nothing is
 * copied. See docs/reference/workflows.md#runs.
 *
 * @param definition the one the new run will use
 */
export function buildRerunSeed(definition: WorkflowDefinition, source: RunState, fromStep?: string): SeedOutcome {
  if (fromStep === undefined) return { kind: 'ok', seed: { steps: {}, context: {} } };
  const blueprint = new Blueprint(definition, defaultExpressionLimits);
  const node = blueprint.nodes.get(fromStep);
  if (!node) return { kind: 'bad', message: `the workflow has no step ${fromStep}` };
  if (node.owner !== undefined)
    return { kind: 'bad', message: `${fromStep} belongs to ${node.owner}: rerun from that` };
  const seed: RerunSeed = { steps: {}, context: {} };
  for (const id of ancestors(blueprint, node)) {
    const run = Object.hasOwn(source.steps, id) ? source.steps[id] : undefined;
    const wrong = describeMismatch(id, run);
    if (wrong !== undefined) return { kind: 'bad', message: wrong };
    for (const [path, copied] of withOwned(blueprint, source, id)) {
      if (copied.compensated || copied.children?.some(({ compensated }) => compensated)) {
        return { kind: 'bad', message: `step ${path} was compensated when the run failed` };
      }
      seed.steps[path] = copied;
      seed.context = copyContext(blueprint.node(path), copied, source, seed.context);
    }
  }
  return { kind: 'ok', seed };
}

function ancestors(blueprint: Blueprint, from: StepNode): string[] {
  const found = new Set(from.deps);
  for (const id of found) for (const dep of blueprint.node(id).deps) found.add(dep);
  return [...found];
}

function describeMismatch(id: string, run: StepRun | undefined): string | undefined {
  if (run?.status === 'succeeded') return undefined;
  const isSkipped =
    run?.settled !== 'bad' && (run?.status === 'skipped' || run?.skip_reason === 'switch_branch_not_taken');
  return isSkipped ? undefined : `step ${id} did not succeed in the earlier run: it is ${run?.status ?? 'missing'}`;
}

function withOwned(blueprint: Blueprint, source: RunState, id: string): [string, StepRun][] {
  const run = Object.hasOwn(source.steps, id) ? source.steps[id] : undefined;
  const inner = blueprint.node(id).owned.flatMap((other) => withOwned(blueprint, source, other));
  return run ? [[id, run], ...inner] : inner;
}

/** Context entries of a step, with their values at the end of the earlier run. */
function copyContext(
  { def, type }: StepNode,
  run: StepRun,
  source: RunState,
  context: Record<string, unknown>,
): Record<string, unknown> {
  const written = [def.output_path, type === 'storage' ? readContextKey(run.output) : undefined];
  return written.reduce((made, path) => {
    const value = path === undefined ? undefined : readPath(source.context, contextPath(path));
    return path === undefined || value === undefined ? made : writePath(made, contextPath(path), value);
  }, context);
}

function readContextKey(output: unknown): string | undefined {
  const { operation, key } = (output ?? {}) as { operation?: unknown; key?: unknown };
  return operation === 'write' && typeof key === 'string' ? key : undefined;
}

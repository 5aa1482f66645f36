import { isStepEnded } from '@svc/lifecycle';
import type { TreeChange } from '@svc/store';
import { getGraph, type RunState, type StepRun, type WorkflowDefinition } from '@svc/workflow';

const itemPath = /^(.+)\[\d+\]$/;
const maxReasonChars = 300;

type Phase = 'none' | 'begun' | 'ended';

/** Steps that never began are not shown. */
function getPhase(run: StepRun | undefined): Phase {
  if (!run || run.attempts === 0) return 'none';
  return isStepEnded(run.status) ? 'ended' : 'begun';
}

/** Changes to the job flow that Bull Board shows for a run. @param changed steps and items, as the plan names them */
export function treeChanges(
  definition: WorkflowDefinition,
  before: RunState,
  after: RunState,
  changed: Iterable<string>,
): TreeChange[] {
  const { ownerOf } = getGraph(definition);
  return [...changed].flatMap((path) => {
    const step = itemPath.exec(path)?.[1];
    const now = findStepRun(after, path);
    const was = getPhase(findStepRun(before, path));
    const is = getPhase(now);
    if (!now || was === is || is === 'none') return [];
    const parent = step ?? ownerOf.get(path) ?? '';
    const name = definition.steps[step ?? path]?.name ?? path;
    return [{ path, parent, name, ...toChange(was, is, now) }];
  });
}

function toChange(was: Phase, is: Phase, run: StepRun): Pick<TreeChange, 'begins' | 'again' | 'ends' | 'reason'> {
  const begins = was !== 'begun' && { begins: true, ...(run.attempts > 1 && { again: true }) };
  if (is !== 'ended') return { ...begins };
  const failed = run.status === 'failed' || run.status === 'denied' || run.status === 'timed_out';
  return {
    ...begins,
    ends: run.status,
    ...(failed && { reason: (run.error?.message ?? run.status).slice(0, maxReasonChars) }),
  };
}

function findStepRun({ steps }: RunState, path: string): StepRun | undefined {
  const open = path.endsWith(']') ? path.lastIndexOf('[') : -1;
  const step = open < 0 ? path : path.slice(0, open);
  const run = Object.hasOwn(steps, step) ? steps[step] : undefined;
  return open < 0 ? run : run?.children?.[Number(path.slice(open + 1, -1))];
}

import type { ExplainCheck, ExplainView, Owner, RunWait } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import { iso } from './job-facts';
import type { RunFacts } from './run-facts';

type RunCheck = ExplainView['checks'][number]['check'];

/** Kinds of waits that each check reports. */
const waitKinds: Readonly<Record<RunCheck, readonly RunWait['kind'][]>> = {
  engine: ['engine'],
  lock: ['lock'],
  deadline: [],
  ending: ['cancel', 'compensation'],
  slots: ['slot'],
  steps: ['job', 'approval', 'signal', 'timer', 'retry', 'child_run'],
};

/** Checks of a run, in order. */
export function buildRunChecks(
  facts: RunFacts,
  waits: readonly RunWait[],
  blockedBy: RunWait | null,
): ExplainCheck<RunCheck>[] {
  const found = buildDetails(facts, waits);
  return (['engine', 'lock', 'deadline', 'ending', 'slots', 'steps'] as const).map((check) => {
    const blocks = waits.find(({ kind, under_way }) => !under_way && waitKinds[check].includes(kind));
    if (!blocks) return { check, ...found[check] };
    const isFirst = blockedBy !== null && waitKinds[check].includes(blockedBy.kind);
    const { what: detail, owner } = isFirst ? blockedBy : blocks;
    return { check, outcome: isFirst ? 'blocks' : 'would_block', detail, owner };
  });
}

type Detail = Pick<ExplainCheck, 'outcome' | 'detail'> & { owner?: Owner };
const passed = (detail: string, owner?: Owner): Detail => ({ outcome: 'passed', detail, ...(owner && { owner }) });

function buildDetails({ run, position, maxParallelSteps }: RunFacts, waits: readonly RunWait[]): Record<RunCheck, Detail> {
  const { entry, lock } = position;
  const slots: Owner = { kind: 'setting', id: 'resources.max_parallel_steps', value: maxParallelSteps };
  const live = waits.filter(({ kind, step_id }) => step_id !== undefined && kind !== 'dependency').length;
  const isOver = isRunEnded(run.status);
  return {
    engine: passed(entry === 'asleep' ? 'no work is pending until its next event' : 'an engine is processing it'),
    lock: passed(lock ? `${lock.owner} is processing it` : 'it is not locked'),
    deadline: passed(run.deadline_ms === undefined ? 'it has no deadline' : `its deadline is ${iso(run.deadline_ms)}`),
    ending: passed(run.ending ? `it will end ${run.ending.status}` : isOver ? `it ended ${run.status}` : 'its end is not decided'),
    slots: passed(`${run.counts.jobs} of its jobs are live`, slots),
    steps: passed(isOver ? 'all have ended' : `${live} live`),
  };
} // prettier-ignore

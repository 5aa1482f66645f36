import type { ExplainCheck, ExplainView, Owner, RunWait } from '@svc/contract';
import { isRunEnded } from '@svc/lifecycle';
import { iso } from './job-facts';
import type { RunFacts } from './run-facts';

type RunCheck = ExplainView['checks'][number]['check'];

/** Which check meets which kind of wait. */
const kindsOf: Readonly<Record<RunCheck, readonly RunWait['kind'][]>> = {
  engine: ['engine'],
  lock: ['lock'],
  deadline: [],
  ending: ['cancel', 'compensation'],
  slots: ['slot'],
  steps: ['job', 'approval', 'signal', 'timer', 'retry', 'child_run'],
};

/** What was looked at, in order. */
export function runChecksOf(
  facts: RunFacts,
  waits: readonly RunWait[],
  blockedBy: RunWait | null,
): ExplainCheck<RunCheck>[] {
  const found = detailsOf(facts, waits);
  return (['engine', 'lock', 'deadline', 'ending', 'slots', 'steps'] as const).map((check) => {
    const blocks = waits.find(({ kind, under_way }) => !under_way && kindsOf[check].includes(kind));
    if (!blocks) return { check, ...found[check] };
    const isFirst = blockedBy !== null && kindsOf[check].includes(blockedBy.kind);
    const { what: detail, owner } = isFirst ? blockedBy : blocks;
    return { check, outcome: isFirst ? 'blocks' : 'would_block', detail, owner };
  });
}

type Detail = Pick<ExplainCheck, 'outcome' | 'detail'> & { owner?: Owner };
const passed = (detail: string, owner?: Owner): Detail => ({ outcome: 'passed', detail, ...(owner && { owner }) });

function detailsOf({ run, standing, maxParallelSteps }: RunFacts, waits: readonly RunWait[]): Record<RunCheck, Detail> {
  const { entry, lock } = standing;
  const slots: Owner = { kind: 'setting', id: 'resources.max_parallel_steps', value: maxParallelSteps };
  const live = waits.filter(({ kind, step_id }) => step_id !== undefined && kind !== 'dependency').length;
  const isOver = isRunEnded(run.status);
  return {
    engine: passed(entry === 'asleep' ? 'nothing is to be done for it until something happens' : 'an engine goes on with it'),
    lock: passed(lock ? `${lock.owner} works on it now` : 'nobody works on it now'),
    deadline: passed(run.deadline_ms === undefined ? 'it has no deadline' : `its deadline is ${iso(run.deadline_ms)}`),
    ending: passed(run.ending ? `it is to end ${run.ending.status}` : isOver ? `it ended ${run.status}` : 'its end is not decided'),
    slots: passed(`${run.counts.jobs} of its jobs are out`, slots),
    steps: passed(isOver ? 'all have ended' : `${live} under way`),
  };
} // prettier-ignore

import type { RunView, StepRunView } from '@svc/contract';

/** The parts of a definition that the tree shows. */
export interface Flow {
  steps: Readonly<Record<string, { name?: string; input?: Record<string, unknown> }>>;
}

export interface ShownRun {
  run: RunView;
  flow: Flow;
  /** Child runs by id. */
  children: ReadonlyMap<string, ShownRun>;
  /** Number of approvals so far, as text, by the job id of each open gate. */
  gates: ReadonlyMap<string, string>;
}

/** One line of the drawn tree. */
export interface TreeLine {
  /** Unique position in the tree. */
  path: string;
  text: string;
  /** Changes with the content of the line, except for elapsed time. */
  key: string;
}

interface Node {
  path: string;
  name: string;
  status: string;
  about: string;
  left: string;
  children: Node[];
}

const signs: Readonly<Record<string, string>> = {
  pending: '·',
  running: '▸',
  waiting: '‖',
  succeeded: '✓',
  cancelled: '–',
  skipped: '–',
};
const nameWidth = 44;
/** A fan-out with more items is shown as one line. */
const maxItems = 8;

/** Renders a run as a tree: steps in the order of the definition, with nested steps, items and child runs below. */
export function drawRun(shown: ShownRun): TreeLine[] {
  const { run, flow } = shown;
  const owned = new Set(Object.values(flow.steps).flatMap(ownedBy));
  const roots = Object.keys(flow.steps).filter((id) => !owned.has(id));
  const root: Node = {
    path: run.id,
    name: `run ${run.id.slice(0, 8)}`,
    status: run.status,
    about: run.error?.message ?? '',
    left: '',
    children: roots.map((id) => stepNode(shown, id)),
  };
  return draw(root, '', '');
}

/** Steps nested in a parallel or loop step. */
function ownedBy({ input = {} }: Flow['steps'][string]): string[] {
  const { steps, body_step: body } = input;
  if (Array.isArray(steps)) return steps.filter((id) => typeof id === 'string');
  return typeof body === 'string' ? [body] : [];
}

function stepNode(shown: ShownRun, id: string): Node {
  const { run, flow, children } = shown;
  const step: StepRunView = run.steps[id] ?? { step_id: id, status: 'pending' };
  const below = ownedBy(flow.steps[id] ?? {}).map((child) => stepNode(shown, child));
  const child = step.child_run_id === undefined ? undefined : children.get(step.child_run_id);
  const its = child ? Object.keys(child.flow.steps).map((inner) => stepNode(child, inner)) : [];
  const items = Object.values(step.children ?? {}) as StepRunView[]; // the contract says: each a step run
  return {
    path: `${run.id}:${id}`,
    name: flow.steps[id]?.name ?? id,
    status: step.status,
    about: describeStep(shown, step, items),
    left: formatDuration(run, step),
    children: [...below, ...its, ...(items.length > maxItems ? [] : items.map((item) => itemNode(shown, item)))],
  };
}

const itemNode = (shown: ShownRun, item: StepRunView): Node => ({
  path: `${shown.run.id}:${item.step_id}`,
  name: String(item.item),
  status: item.status,
  about: describeStep(shown, item, []),
  left: formatDuration(shown.run, item),
  children: [],
});

function describeStep({ run, gates }: ShownRun, step: StepRunView, items: readonly StepRunView[]): string {
  if (step.error) return step.error.message;
  if (step.skip_reason) return step.skip_reason.replaceAll('_', ' ');
  if (items.length > 0) return `${items.filter(({ status }) => status === 'succeeded').length} of ${items.length}`;
  if (step.child_run_id) return `run ${step.child_run_id.slice(0, 8)}`;
  if (!step.job_id) return '';
  const gate = gates.get(step.job_id) ?? decidedBy(step);
  return `job …${step.job_id.slice(run.id.length)}${gate && `, ${gate}`}`;
}

function decidedBy({ output }: StepRunView): string {
  const { resolved_by: by } = (output ?? {}) as { resolved_by?: unknown };
  return typeof by === 'string' ? `agreed, last by ${by}` : '';
}

/** Duration of the step, or time left on its timer. */
function formatDuration(
  { timers = [] }: RunView,
  { step_id: id, started_at: from, completed_at: to }: StepRunView,
): string {
  const timer = timers.find(({ step_id }) => step_id === id);
  if (timer && !to) return `${inWords(timer.remaining_ms)} left`;
  return from && to ? `${Date.parse(to) - Date.parse(from)} ms` : '';
}

function inWords(ms: number): string {
  if (ms < 100_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 6_000_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

function draw({ path, name, status, about, left, children }: Node, before: string, below: string): TreeLine[] {
  const head = `${before}${signs[status] ?? '✗'} ${name}`.padEnd(nameWidth);
  const text = `${head} ${status.padEnd(10)} ${[about, left].filter((part) => part !== '').join(', ')}`.trimEnd();
  const inner = children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    return draw(child, `${below}${isLast ? '└─ ' : '├─ '}`, `${below}${isLast ? '   ' : '│  '}`);
  });
  return [{ path, text, key: `${status} ${about}` }, ...inner];
}

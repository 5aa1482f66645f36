import {
  approvalStates,
  effectStates,
  evalRunStates,
  jobStates,
  poolStates,
  runEnds,
  runStates,
  stepStates,
  terminalStates,
} from '@svc/lifecycle';

type BuildTable = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

const diagram = (machine: { moves: Readonly<Record<string, { from: readonly string[]; to: string }>> }) => {
  const arrows = Object.entries(machine.moves).flatMap(([event, { from, to }]) =>
    from.map((state) => `  ${state} --> ${to}: ${event}`),
  );
  return ['```mermaid', 'stateDiagram-v2', ...arrows, '```'].join('\n');
};
const moves = (
  table: BuildTable,
  machine: { moves: Readonly<Record<string, { from: readonly string[]; to: string }>> },
) =>
  table(
    ['Move', 'From', 'To'],
    Object.entries(machine.moves).map(([event, { from, to }]) => [`\`${event}\``, from.join(', '), to]),
  );

/** The parts of docs/states.md: a table and a diagram of each state machine. */
export const buildStateParts = (table: BuildTable): string[] => [
  'No other transition is possible: the script that applies transitions reads the same table.',
  '## Job',
  `The initial state of a job is PENDING. Terminal states: ${terminalStates.join(', ')}.`,
  moves(table, jobStates),
  diagram(jobStates),
  '## Approval',
  moves(table, approvalStates),
  diagram(approvalStates),
  '## Workflow run',
  `The initial status of a run is pending. Final statuses: ${runEnds.join(', ')}.`,
  moves(table, runStates),
  diagram(runStates),
  '## Step of a run',
  moves(table, stepStates),
  diagram(stepStates),
  '## Worker pool',
  'A pool is created active.',
  moves(table, poolStates),
  diagram(poolStates),
  '## Effect',
  'An effect is created begun, before its function runs.',
  moves(table, effectStates),
  diagram(effectStates),
  '## Run of an evaluation dataset',
  'A small run is created running, a large one pending.',
  moves(table, evalRunStates),
  diagram(evalRunStates),
];

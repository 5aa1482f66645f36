import { bodyKey } from './links';
import { isJobType, jobStepTypes, getStepType, type StepDefinition, type StepType } from './workflow';

type StepField = keyof StepDefinition;

const every: readonly StepField[] = ['name', 'type', 'depends_on', 'join', 'condition', 'input', 'on_error'];
const output: readonly StepField[] = ['output_path', 'output_schema', 'output_schema_id'];
const ofJobs: readonly StepField[] = [
  ...output, 'worker_id', 'topic', 'input_schema', 'input_schema_id', 'result_data_path', 'meta', 'route_labels', 'retry',
  'timeout_sec', 'policy_gate', 'compensation', 'mock_output', 'concurrency', 'rate', 'debounce', 'singleton',
]; // prettier-ignore
const fanOut: readonly StepField[] = ['for_each', 'max_parallel', 'fail_fast'];

/** Fields that apply to a kind, in addition to those of every step. See docs/reference/workflows.md#definitions. */
const ofKind: Readonly<Record<StepType, readonly StepField[]>> = {
  worker: [...ofJobs, ...fanOut],
  llm: [...ofJobs, ...fanOut],
  http: [...ofJobs, ...fanOut],
  container: [...ofJobs, ...fanOut],
  script: [...ofJobs, ...fanOut],
  input: [...ofJobs, ...fanOut],
  // A gate is a job without a worker.
  approval: [...output, 'meta', 'route_labels', 'timeout_sec', 'gate', 'exclude_starter', 'mock_output'],
  signal: [...output, 'signal', 'timeout_sec', 'mock_output'],
  condition: output,
  switch: output,
  delay: ['delay_sec', 'delay_until', 'timeout_sec'],
  notify: [],
  transform: output,
  storage: output,
  parallel: [...output, 'max_parallel'],
  loop: output,
  subworkflow: [...output, 'mock_output'],
};

const jobs = `jobs (${jobStepTypes.join(', ')})`;
/** Kinds that a field applies to, for messages. */
const owners: Partial<Record<StepField, string>> = {
  gate: 'approval steps',
  exclude_starter: 'approval steps',
  signal: 'signal steps',
  delay_sec: 'delay steps',
  delay_until: 'delay steps',
  max_parallel: `parallel steps, and ${jobs} with for_each`,
  timeout_sec: `delay, approval and signal steps, and ${jobs}`,
};

/** Set fields that do not apply to this kind, each with the kinds it applies to. */
export function misplacedFields(step: StepDefinition): { field: StepField; message: string }[] {
  const type = getStepType(step);
  // A loop without a body is dispatched as a job itself.
  const asJob = type === 'loop' && bodyKey(step) === undefined;
  const known = new Set<string>([...every, ...ofKind[type], ...(asJob ? ofJobs : [])]);
  const misplaced = (Object.keys(step) as StepField[])
    .filter((field) => !known.has(field) && !isUnset(step[field]))
    .map((field) => ({
      field,
      message: `does not apply to type ${type}: remove it (it applies to ${owners[field] ?? whose(field)})`,
    }));
  return [...misplaced, ...pointless(step, type)];
}

/** Set fields that apply only together with another field. */
function pointless(step: StepDefinition, type: StepType): { field: StepField; message: string }[] {
  if (!isJobType(type) || step.for_each !== undefined) return [];
  return (['max_parallel', 'fail_fast'] as const)
    .filter((field) => !isUnset(step[field]))
    .map((field) => ({ field, message: 'applies only with for_each: remove it, or add for_each' }));
}

const whose = (field: StepField): string => {
  const kinds = (Object.keys(ofKind) as StepType[]).filter((type) => ofKind[type].includes(field));
  return kinds.some((type) => !isJobType(type)) ? kinds.join(', ') : jobs;
};

/** Whether a value counts as unset: clients also write null or an empty string. */
const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === 0 ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

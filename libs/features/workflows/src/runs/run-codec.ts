import type { JsonObject, LoadedRun } from '@svc/store';
import { newRun, type RunState, type StepRun } from '@svc/workflow';

/*
 * Storage layout of a run: a header that every pass writes, and one field per step and item, so that a pass writes only
 * the changes. Large values that rarely change have fields of their own.
 */

const inputField = '!given';
const contextField = '!context';
const itemsField = (path: string): string => `${path}!items`;
const itemPath = /^(.+)\[(\d+)\]$/;

type InputFields = Pick<RunState, 'input' | 'labels' | 'metadata' | 'call_stack'>;

const toInputFields = ({ input, labels, metadata, call_stack }: RunState): InputFields => ({
  input,
  ...(labels && { labels }),
  ...(metadata && { metadata }),
  ...(call_stack && { call_stack }),
});

const toStepDocument = ({ children: _children, resolved_items: _items, ...own }: StepRun): JsonObject => own;

/** Reads the input of a run from its field. */
export function readInput(fields: ReadonlyMap<string, JsonObject>): RunState['input'] {
  return (fields.get(inputField) as Partial<InputFields> | undefined)?.input ?? {};
}
readInput.path = inputField;

/** Builds the run's header document. */
export function toHeader(run: RunState): JsonObject {
  const { steps: _steps, input: _input, labels: _l, metadata: _m, call_stack: _c, context: _context, ...header } = run;
  return header;
}

/** Stored fields of a run before its first pass. */
export const newFields = (run: RunState): ReadonlyMap<string, JsonObject> =>
  new Map([[inputField, { ...toInputFields(run) }]]);

export interface ChangedFields {
  steps: Map<string, JsonObject>;
  removed: string[];
}

/** Fields in which two states of a run differ. @param changed steps and items, as the plan names them */
export function changedFields(before: RunState, after: RunState, changed: Iterable<string>): ChangedFields {
  const steps = new Map<string, JsonObject>();
  const removed: string[] = [];
  if (after.context !== before.context) steps.set(contextField, after.context);
  for (const path of changed) {
    const [, step, index] = itemPath.exec(path) ?? [];
    const own = step === undefined ? stepAt(after, path) : stepAt(after, step)?.children?.[Number(index)];
    if (!own) continue;
    steps.set(path, toStepDocument(own));
    const old = step === undefined ? stepAt(before, path) : undefined;
    if (own.resolved_items && own.resolved_items !== old?.resolved_items) {
      steps.set(itemsField(path), { items: own.resolved_items });
    }
    if (!own.resolved_items && old?.resolved_items) removed.push(itemsField(path));
    // A new loop round begins without the items of the last one.
    for (let i = own.children?.length ?? 0; i < (old?.children?.length ?? 0); i++) removed.push(`${path}[${i}]`);
  }
  return { steps, removed };
}

const stepAt = ({ steps }: RunState, id: string): StepRun | undefined =>
  Object.hasOwn(steps, id) ? steps[id] : undefined;

/** Decodes a stored run. Only passes write it. */
export function toRunState({ run, steps: fields }: LoadedRun): RunState {
  const steps: Record<string, StepRun> = {};
  const items: [string, number, StepRun][] = [];
  for (const [path, document] of fields) {
    if (path.includes('!')) continue;
    const [, step, index] = itemPath.exec(path) ?? [];
    if (step === undefined) steps[path] = document as unknown as StepRun;
    else items.push([step, Number(index), document as unknown as StepRun]);
  }
  for (const [step, index, item] of items.sort((a, b) => a[1] - b[1])) {
    const of = Object.hasOwn(steps, step) ? steps[step] : undefined;
    if (of) (of.children ??= [])[index] = item;
  }
  for (const [path, document] of fields) {
    const step = path.endsWith('!items') ? steps[path.slice(0, -'!items'.length)] : undefined;
    if (step) {
      step.resolved_items = document['items'] as unknown[];
      step.children ??= [];
    }
  }
  const { input = {}, ...rest } = (fields.get(inputField) ?? {}) as Partial<InputFields>;
  const blank = newRun({ id: run.id, workflow_id: run.workflow_id, org_id: run.tenant, input }, 0);
  return { ...blank, ...(run.header as Partial<RunState>), ...rest, context: fields.get(contextField) ?? {}, steps };
}

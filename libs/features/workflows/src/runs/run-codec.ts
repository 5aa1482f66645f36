import type { JsonObject, LoadedRun } from '@svc/store';
import { newRun, type RunState, type StepRun } from '@svc/workflow';

/*
 * How a run is laid out in the store: a header that every pass writes, and beside it a field for each step and item, so
 * that a pass writes what it changed. What is large and seldom changes has a field of its own too.
 */

const given = '!given';
const context = '!context';
const itemsOf = (path: string): string => `${path}!items`;
const itemPath = /^(.+)\[(\d+)\]$/;

type Given = Pick<RunState, 'input' | 'labels' | 'metadata' | 'call_stack'>;

const givenOf = ({ input, labels, metadata, call_stack }: RunState): Given => ({
  input,
  ...(labels && { labels }),
  ...(metadata && { metadata }),
  ...(call_stack && { call_stack }),
});

const stepOf = ({ children: _children, resolved_items: _items, ...own }: StepRun): JsonObject => own;

/** The input of a run, from the field that it stands in. */
export function givenTo(fields: ReadonlyMap<string, JsonObject>): RunState['input'] {
  return (fields.get(given) as Partial<Given> | undefined)?.input ?? {};
}
givenTo.path = given;

/** What stands in the run's own field. */
export function headerOf(run: RunState): JsonObject {
  const { steps: _steps, input: _input, labels: _l, metadata: _m, call_stack: _c, context: _context, ...header } = run;
  return header;
}

/** A run that has not had its first pass, as it is stored. */
export const newFields = (run: RunState): ReadonlyMap<string, JsonObject> => new Map([[given, { ...givenOf(run) }]]);

export interface ChangedFields {
  steps: Map<string, JsonObject>;
  removed: string[];
}

/** Fields in which two states of a run differ. @param changed steps and items, as the plan names them */
export function changedFields(before: RunState, after: RunState, changed: Iterable<string>): ChangedFields {
  const steps = new Map<string, JsonObject>();
  const removed: string[] = [];
  if (after.context !== before.context) steps.set(context, after.context);
  for (const path of changed) {
    const [, step, index] = itemPath.exec(path) ?? [];
    const own = step === undefined ? stepAt(after, path) : stepAt(after, step)?.children?.[Number(index)];
    if (!own) continue;
    steps.set(path, stepOf(own));
    const old = step === undefined ? stepAt(before, path) : undefined;
    if (own.resolved_items && own.resolved_items !== old?.resolved_items) {
      steps.set(itemsOf(path), { items: own.resolved_items });
    }
    if (!own.resolved_items && old?.resolved_items) removed.push(itemsOf(path));
    // A further round begins without the items of the last.
    for (let i = own.children?.length ?? 0; i < (old?.children?.length ?? 0); i++) removed.push(`${path}[${i}]`);
  }
  return { steps, removed };
}

const stepAt = ({ steps }: RunState, id: string): StepRun | undefined =>
  Object.hasOwn(steps, id) ? steps[id] : undefined;

/** The run as passes and readers know it. Only passes write what is read here. */
export function runStateOf({ run, steps: fields }: LoadedRun): RunState {
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
  const { input = {}, ...rest } = (fields.get(given) ?? {}) as Partial<Given>;
  const blank = newRun({ id: run.id, workflow_id: run.workflow_id, org_id: run.tenant, input }, 0);
  return { ...blank, ...(run.header as Partial<RunState>), ...rest, context: fields.get(context) ?? {}, steps };
}

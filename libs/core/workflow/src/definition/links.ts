import { isRecord } from '@svc/json';
import type { Path } from './faults';
import { getStepType, type StepDefinition } from './workflow';

/** A reference to a step, with its path inside the referring step. `id` is not a string when it is invalid. */
export interface Link {
  id: unknown;
  path: Path;
}

/**
 * Steps that a parallel or loop step runs itself; they are not nodes of the graph.
 * See docs/reference/workflows.md#steps.
 */
export function childLinks(step: StepDefinition): Link[] {
  const input = step.input ?? {};
  switch (getStepType(step)) {
    case 'parallel': {
      const { steps } = input;
      if (typeof steps === 'string') return commaList(steps).map((id) => ({ id, path: ['input', 'steps'] }));
      return Array.isArray(steps) ? steps.map((id: unknown, i) => ({ id, path: ['input', 'steps', i] })) : [];
    }
    case 'loop': {
      const key = bodyKey(step);
      return key ? [{ id: input[key], path: ['input', key] }] : [];
    }
    default:
      return [];
  }
}

/** Input key with the body of a loop; a loop without a body runs itself as a job. */
export const bodyKey = (step: StepDefinition): 'body_step' | 'body' | undefined =>
  (['body_step', 'body'] as const).find((key) => ![undefined, null, ''].includes(step.input?.[key] as undefined));

const commaList = (text: string): string[] => text.split(',').map((id) => id.trim()).filter((id) => id !== ''); // prettier-ignore

/** One branch of a switch: the value that the subject must equal, and the step to run. */
export interface SwitchCase {
  match: unknown;
  target: Link;
}
export const matchKeys = ['when', 'match', 'value'] as const;
export const targetKeys = ['next', 'step', 'target'] as const;

/** The cases in evaluation order; a map from literal to step keeps its own order. */
export function switchCases(step: StepDefinition): SwitchCase[] {
  const cases = step.input?.['cases'];
  const at: Path = ['input', 'cases'];
  if (Array.isArray(cases)) {
    return cases.filter(isRecord).flatMap((one) => {
      const match = matchKeys.find((key) => one[key] !== undefined);
      const target = targetKeys.find((key) => one[key] !== undefined);
      const index = cases.indexOf(one);
      return match && target ? [{ match: one[match], target: { id: one[target], path: [...at, index, target] } }] : [];
    });
  }
  if (!isRecord(cases)) return [];
  return Object.entries(cases).map(([match, id]) => ({ match, target: { id, path: [...at, match] } }));
}

/** The step that runs when no case matches. */
export function switchDefault(step: StepDefinition): Link | undefined {
  const key = (['default', 'default_step'] as const).find((name) => ![undefined, null, ''].includes(step.input?.[name] as undefined)); // prettier-ignore
  return key && { id: step.input?.[key], path: ['input', key] };
}

/** Every target step of a switch. */
export function switchTargets(step: StepDefinition): Link[] {
  const otherwise = switchDefault(step);
  return [...switchCases(step).map(({ target }) => target), ...(otherwise ? [otherwise] : [])];
}

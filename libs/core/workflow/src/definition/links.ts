import { isRecord } from '@svc/json';
import type { Path } from './faults';
import { getStepType, type StepDefinition } from './workflow';

/** A step that another one names, and where it does so, from the step on. `id` is not text when it is written wrongly. */
export interface Link {
  id: unknown;
  path: Path;
}

/**
 * Steps that a parallel or loop step runs itself: they take no part in the graph.
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

/** Without a body a loop runs itself as a job. */
export const bodyKey = (step: StepDefinition): 'body_step' | 'body' | undefined =>
  (['body_step', 'body'] as const).find((key) => ![undefined, null, ''].includes(step.input?.[key] as undefined));

const commaList = (text: string): string[] => text.split(',').map((id) => id.trim()).filter((id) => id !== ''); // prettier-ignore

/** One way out of a switch: what the subject must equal, and the step that then runs. */
export interface SwitchCase {
  match: unknown;
  target: Link;
}
export const matchKeys = ['when', 'match', 'value'] as const;
export const targetKeys = ['next', 'step', 'target'] as const;

/** The cases in the order in which they are tried; a map of literal to step is read in its own order. */
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

/** The step that runs when no case fits. */
export function switchDefault(step: StepDefinition): Link | undefined {
  const key = (['default', 'default_step'] as const).find((name) => ![undefined, null, ''].includes(step.input?.[name] as undefined)); // prettier-ignore
  return key && { id: step.input?.[key], path: ['input', key] };
}

/** Every step a switch chooses between. */
export function switchTargets(step: StepDefinition): Link[] {
  const otherwise = switchDefault(step);
  return [...switchCases(step).map(({ target }) => target), ...(otherwise ? [otherwise] : [])];
}

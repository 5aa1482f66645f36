import type { StepType } from '../definition/workflow';
import { approval } from './approval';
import { condition } from './condition';
import { delay } from './delay';
import { forEach } from './for-each';
import { job } from './job';
import type { StepContext, StepKind } from './kind';
import { loop } from './loop';
import { notify } from './notify';
import { parallel } from './parallel';
import { signal } from './signal';
import { storage } from './storage';
import { subworkflow } from './subworkflow';
import { switchStep } from './switch';
import { transform } from './transform';

/** Implementation of each step type. */
export const kinds: Record<StepType, StepKind> = {
  worker: job,
  llm: job,
  http: job,
  container: job,
  script: job,
  input: job,
  approval,
  condition,
  switch: switchStep,
  delay,
  notify,
  transform,
  storage,
  parallel,
  loop,
  subworkflow,
  signal,
};

/** A fan-out wraps the kind of its items; the rounds of a loop without a body are jobs. */
export function getStepKind({ node, index }: Pick<StepContext, 'node' | 'index'>): StepKind {
  if (index === undefined && node.def.for_each !== undefined) return forEach;
  return index !== undefined && node.type === 'loop' ? job : kinds[node.type];
}

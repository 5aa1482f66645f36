import { printProblem, readYamlDocument } from '@svc/contract';
import type { PolicyRequest } from '@svc/policy';
import Joi from 'joi';
import { Unusable } from './options';

/** A request and its expected decision. */
export interface InputCase {
  name: string;
  request: Omit<PolicyRequest, 'input_content'> & { content?: unknown; metadata?: Record<string, unknown> };
  /** Counts of velocity windows, including this request; default 1. */
  counts?: Record<string, number>;
  expect: InputExpectation;
}
export interface InputExpectation {
  decision: string;
  /** Id of the deciding rule; '' = no rule. */
  rule?: string;
  reason?: string;
  /** Must be a subset of those of the decision. */
  constraints?: Record<string, unknown>;
  remediations?: string[];
  findings?: string[];
}

/** A job result and its expected decision. */
export interface OutputCase {
  name: string;
  output: {
    topic: string;
    tenant?: string;
    body?: unknown;
    error_message?: string;
    error_code?: string;
    size?: number;
    labels?: Record<string, string>;
    capabilities?: string[];
    risk_tags?: string[];
  };
  expect: { decision: string; rule?: string; findings?: string[] };
}

export type Case = InputCase | OutputCase;

const name = Joi.string().min(1).max(200).required();
const words = Joi.array().items(Joi.string());
const texts = Joi.object().pattern(Joi.string(), Joi.string());

const inputCase = Joi.object<InputCase>({
  name,
  request: Joi.object({
    topic: Joi.string().required(),
    tenant: Joi.string(),
    job_id: Joi.string(),
    org_id: Joi.string(),
    team_id: Joi.string(),
    workflow_id: Joi.string(),
    step_id: Joi.string(),
    principal_id: Joi.string(),
    priority: Joi.alternatives(Joi.string(), Joi.number()),
    labels: texts,
    server_labels: texts,
    effective_config: Joi.object(),
    meta: Joi.object({
      actor_id: Joi.string(),
      actor_type: Joi.string(),
      capability: Joi.string(),
      risk_tags: words,
      requires: words,
      pack_id: Joi.string(),
      labels: texts,
    }),
    agent: Joi.object({ risk_tier: Joi.string(), data_classifications: words }),
    delegation: Joi.object(),
    content: Joi.any(),
  }).required(),
  counts: Joi.object().pattern(Joi.string(), Joi.number().integer().min(0)),
  expect: Joi.object({
    decision: Joi.string().valid('allow', 'deny', 'require_approval', 'throttle', 'allow_with_constraints').required(),
    rule: Joi.string().allow(''),
    reason: Joi.string(),
    constraints: Joi.object(),
    remediations: words,
    findings: words,
  }).required(),
});

const outputCase = Joi.object<OutputCase>({
  name,
  output: Joi.object({
    topic: Joi.string().required(),
    tenant: Joi.string(),
    body: Joi.any(),
    error_message: Joi.string(),
    error_code: Joi.string(),
    size: Joi.number().integer().min(0),
    labels: texts,
    capabilities: words,
    risk_tags: words,
  }).required(),
  expect: Joi.object({
    decision: Joi.string().valid('allow', 'redact', 'quarantine').required(),
    rule: Joi.string().allow(''),
    findings: words,
  }).required(),
});

const document = Joi.object<{ cases: Case[] }>({
  cases: Joi.array()
    .items(
      Joi.alternatives().conditional(Joi.object({ output: Joi.exist() }).unknown(), {
        then: outputCase,
        otherwise: inputCase,
      }),
    )
    .unique('name')
    .min(1)
    .required(),
});

/** @throws Unusable with every error and its line */
export function parseCases(text: string, source: string): Case[] {
  const parsed = readYamlDocument(text, source, document);
  if (!parsed.ok) throw new Unusable(parsed.problems.map(printProblem));
  return parsed.value.cases;
}

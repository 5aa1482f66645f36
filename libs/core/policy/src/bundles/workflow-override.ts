import type { Problem } from '@svc/contract';
import type { PolicyDocument, Selector } from '../document/policy-document';

/**
 * The bundle id of a workflow's own policy. The workflow id is escaped, so that a slash in it cannot address another's.
 * See docs/reference/policy.md#workflow-overrides.
 */
export const overrideBundleId = (workflowId: string): string => `workflow/${encodeURIComponent(workflowId)}/policy`;

/** Sections that apply to every job, whatever document they are in. */
const forEverybody = ['default_tenant', 'input_policy', 'output_policy', 'require_human'] as const;

/**
 * The parts of a workflow's own policy that reach beyond its own jobs. Permission to write a workflow must not extend to
 * the policy of others. See docs/reference/workflows.md#definitions.
 */
export function overrideFaults(document: PolicyDocument, workflowId: string): Problem[] {
  const wanted: Selector = { workflow_id: workflowId };
  const isOwn = ({ workflow_id, job_id, session_id }: Selector = {}) =>
    workflow_id === workflowId && job_id === undefined && session_id === undefined;
  const messages: [path: string, message: string][] = [];
  if (document.tier !== 'workflow' || !isOwn(document.selector)) {
    messages.push(['tier', `must be workflow, with selector ${JSON.stringify(wanted)}`]);
  }
  for (const section of ['rules', 'input_rules'] as const) {
    for (const [i, { tier, selector }] of document[section].entries()) {
      if ((tier !== undefined && tier !== 'workflow') || (selector !== undefined && !isOwn(selector))) {
        messages.push([
          `${section}.${i}`,
          'is for other jobs than those of this workflow: leave tier and selector out',
        ]);
      }
    }
  }
  for (const section of forEverybody) {
    if (document[section] !== undefined)
      messages.push([section, 'applies to every job: put it into a bundle of its own']);
  }
  if (document.output_rules.length > 0)
    messages.push(['output_rules', 'apply to every job: put them into a bundle of their own']);
  if (Object.keys(document.tenants).length > 0)
    messages.push(['tenants', 'applies to every job: put it into a bundle of its own']);
  return messages.map(([path, message]) => ({ source: document.source, line: 0, column: 0, path, message }));
}

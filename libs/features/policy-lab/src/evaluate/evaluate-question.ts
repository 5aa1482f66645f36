import { AppError, everyTenant, type Caller, type PolicyMetaBody, type PolicyRequestBody } from '@svc/contract';
import type { PolicyRequest } from '@svc/policy';
import type { EffectiveConfig } from '@svc/settings';
import { markSecrets } from '@svc/decision';
import { clientLabels } from '@svc/jobs';
import { type TopicDeps, loadRiskTagDeriver } from '@svc/registry';

/** Facts about an agent that decisions depend on. See docs/reference/policy.md#evaluation. */
export type AgentFacts = NonNullable<PolicyRequest['agent']>;

export interface QuestionDeps {
  config: Pick<EffectiveConfig, 'at'>;
  topics: Pick<TopicDeps, 'registry'>;
  /** Finds an agent by its id; undefined when it is unknown. Absent: this installation has no agents. */
  agents?: (tenant: string, agentId: string) => Promise<AgentFacts | undefined>;
}

/**
 * Converts a client's body to a policy request: fields that a submission would be completed with are added, and fields
 * that only the service may set are removed.
 *
 * @throws tenant_access_denied, invalid_body
 */
export async function policyQuestion(
  deps: QuestionDeps,
  caller: Pick<Caller, 'tenant' | 'scope'>,
  body: PolicyRequestBody,
): Promise<PolicyRequest & { tenant: string }> {
  const { labels: given, effective_config, budget, action, meta: about, input_content, ...fields } = body;
  const tenant = resolveTenant(caller, body);
  const labels = clientLabels(given);
  const { labels: serverLabels, risk_tags: riskTags } = markSecrets(
    { labels: { _source: about?.pack_id ? 'pack' : 'api' }, risk_tags: about?.risk_tags ?? [] },
    input_content === undefined ? undefined : parsedOr(input_content),
  );
  const agentId = labels['agent_id'];
  const [config, agent, derived] = await Promise.all([
    effective_config ?? deps.config.at(getConfigPlace(tenant, body)),
    agentId ? deps.agents?.(tenant, agentId) : undefined,
    loadRiskTagDeriver(deps.topics, tenant, body.topic),
  ]);
  return {
    ...fields,
    tenant,
    labels,
    server_labels: serverLabels,
    ...(budget && { budget }),
    ...(config !== undefined && { effective_config: config }),
    ...((about || riskTags.length > 0) && {
      meta: buildMeta(about ?? { risk_tags: [], requires: [], labels: {} }, riskTags),
    }),
    ...(action && { action }),
    ...(agent && { agent }),
    ...derived,
    ...(input_content && { input_content }),
  };
}

/** Every tenant in the body must be the caller's, unless the caller may act for all. */
function resolveTenant(caller: Pick<Caller, 'tenant' | 'scope'>, { tenant, org_id, meta }: PolicyRequestBody): string {
  const named = [tenant, org_id, meta?.tenant_id].filter((name) => name !== undefined && name !== '');
  if (caller.scope !== everyTenant && named.some((name) => name !== caller.tenant)) {
    throw new AppError('tenant_access_denied');
  }
  return named[0] ?? caller.tenant;
}

const getConfigPlace = (tenant: string, { team_id, workflow_id, step_id }: PolicyRequestBody) => ({
  tenant,
  team: team_id,
  workflow: workflow_id,
  step: step_id,
});

const buildMeta = ({ labels, ...meta }: PolicyMetaBody, riskTags: string[]) => ({
  ...meta,
  labels: clientLabels(labels),
  risk_tags: riskTags,
});

/** JSON content is searched by field, any other is one text. */
function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

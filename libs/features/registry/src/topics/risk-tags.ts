import { parseDeriver, type PolicyRequest } from '@svc/policy';
import type { TopicDeps } from './topic-deps';

/**
 * Adds the risk tag deriver of a job's topic to a policy request.
 * See docs/reference/policy.md#evaluation.
 */
export async function loadRiskTagDeriver(
  { registry }: Pick<TopicDeps, 'registry'>,
  tenant: string,
  topic: string,
): Promise<Pick<PolicyRequest, 'risk_tag_deriver'>> {
  const found = await registry.find(tenant, topic);
  if (found.kind !== 'registered') return {};
  const { risk_tag_deriver: text, risk_tags: tags } = found.registration;
  const deriver = text ? parseDeriver(text) : undefined;
  return deriver ? { risk_tag_deriver: { ...deriver, ...(tags.length > 0 && { tags }) } } : {};
}

import type { PolicyDocument, Rule } from '../document/policy-document';

/**
 * The rules of a document without rules but with topic lists per tenant: each tenant's denied topics, then its
 * allowed ones. See docs/reference/policy.md#documents.
 */
export function legacyRules({ rules, tenants }: PolicyDocument): Rule[] {
  if (rules.length > 0) return [];
  return Object.entries(tenants).flatMap(([tenant, { deny_topics = [], allow_topics = [] }]) => [
    ...deny_topics.map((topic, n) => listed(tenant, 'deny', n, topic)),
    ...allow_topics.map((topic, n) => listed(tenant, 'allow', n, topic)),
  ]);
}

const listed = (tenant: string, decision: 'allow' | 'deny', n: number, topic: string): Rule => ({
  id: `legacy:${tenant}:${decision}:${n}`,
  match: { tenants: [tenant], topics: [topic] },
  decision,
  reason: `topic ${topic} is in the ${decision} list of tenant ${tenant}`,
});

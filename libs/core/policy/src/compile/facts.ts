import { isRecord } from '@svc/json';
import type { PolicyRequest, RiskTagDeriver } from '../evaluate/request';
import { fold } from './glob';
import type { DelegationFacts } from './predicate';

export interface McpFacts {
  servers: string;
  tools: string;
  resources: string;
  actions: string;
}

/** A request prepared for rules: text is normalized once, so that a thousand rules compare without repeating it. */
export interface Facts {
  tenant: string;
  topic: string;
  jobId: string;
  actorId: string;
  actorType: string;
  packId: string;
  capabilities: readonly string[];
  riskTags: ReadonlySet<string>;
  requires: ReadonlySet<string>;
  agentRiskTier: string;
  agentDataClassifications: readonly string[];
  secretsPresent: boolean;
  delegation: DelegationFacts;
  /** Values of the MCP labels, lower-cased, '' when absent; undefined when the request has none of them. */
  mcp: McpFacts | undefined;
  /** Ids that selectors of the job tier can name; and of the workflow tier. Most policies use neither. */
  jobKeys(): ReadonlySet<string>;
  workflowKeys(): ReadonlySet<string>;
  label(key: string): string | undefined;
  /** The content document, then meta labels, then labels. See docs/reference/policy.md#rules. */
  metadata(key: string): unknown;
  /** Bytes to scan, undefined when the request has none. */
  content(): Uint8Array | undefined;
  /** The content parsed as JSON, undefined when it is not JSON. */
  document(): unknown;
  request: PolicyRequest;
}

const undelegated: DelegationFacts = { chain: [], depth: 0, scope: [] };
const truthy = new Set(['true', '1', 'yes']);
const jobLabels = ['job_id', 'job.id', 'edge.job_id', 'session_id', 'edge.session_id'];
const workflowLabels = ['workflow_id', 'workflow.id', 'workflow', 'workflow_run_id', 'workflow.run_id'];

/** @param defaultTenant of the policy, used when the request names none. See docs/reference/policy.md#evaluation. */
export function buildFacts(request: PolicyRequest, defaultTenant: string | undefined): Facts {
  const meta = request.meta ?? {};
  const label = labelReader(request);
  const document = once(() => contentDocument(request, label));
  const tenant = [request.tenant, meta.tenant_id, defaultTenant, 'default'].find((name) => name?.trim()) ?? 'default';
  const derived = request.risk_tag_deriver && derivedTags(request.risk_tag_deriver, document());
  const riskTags = new Set((derived?.length ? derived : (meta.risk_tags ?? [])).map(fold));
  return {
    tenant: fold(tenant),
    topic: fold(request.topic),
    jobId: request.job_id ?? '',
    actorId: fold(meta.actor_id ?? ''),
    actorType: fold(meta.actor_type ?? ''),
    packId: fold(meta.pack_id ?? ''),
    capabilities: meta.capability?.trim() ? [fold(meta.capability)] : [],
    riskTags,
    requires: new Set((meta.requires ?? []).map(fold)),
    agentRiskTier: fold(request.agent?.risk_tier ?? ''),
    agentDataClassifications: (request.agent?.data_classifications ?? []).map(fold),
    secretsPresent: truthy.has(fold(label('secrets_present') ?? '')) || riskTags.has('secrets'),
    delegation: request.delegation ?? undelegated,
    mcp: mcpFacts(label),
    jobKeys: once(() => jobKeys(request)),
    workflowKeys: once(() => toKeySet([request.workflow_id, ...serverLabels(request, workflowLabels)])),
    label,
    metadata: (key) => metadataValue(key, document(), request, label),
    content: once(() => contentBytes(request, label)),
    document,
    request,
  };
}

const own = (map: Readonly<Record<string, string>> | undefined, key: string): string | undefined =>
  map && Object.hasOwn(map, key) ? map[key] : undefined;

function labelReader({ labels, server_labels, meta }: PolicyRequest): Facts['label'] {
  return (key) => own(server_labels, key) ?? own(labels, key) ?? own(meta?.labels, key);
}

function metadataValue(key: string, document: unknown, { meta }: PolicyRequest, label: Facts['label']): unknown {
  const field = isRecord(document) && Object.hasOwn(document, key) ? document[key] : undefined;
  return field ?? own(meta?.labels, key) ?? label(key);
}

function contentBytes({ input_content }: PolicyRequest, label: Facts['label']): Uint8Array | undefined {
  const content = hasContent(input_content) ? input_content : label('_content.prompt');
  if (content === undefined || content.length === 0) return undefined;
  return typeof content === 'string' ? new TextEncoder().encode(content) : content;
}

function contentDocument({ input_content }: PolicyRequest, label: Facts['label']): unknown {
  const candidates = [asText(input_content), label('_content.payload_json'), label('_content.prompt')];
  for (const text of candidates) {
    const parsed = parseJson(text);
    if (parsed !== undefined) return parsed;
  }
  return undefined;
}

const hasContent = (content: Uint8Array | string | undefined) => content !== undefined && content.length > 0;
const asText = (content: Uint8Array | string | undefined) =>
  content instanceof Uint8Array ? new TextDecoder().decode(content) : content;

/** Text that is not JSON is a plain prompt and has no fields. */
function parseJson(text: string | undefined): unknown {
  if (!text || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A missing, zero or negative amount is treated as the worst case. */
function derivedTags(deriver: RiskTagDeriver, document: unknown): string[] {
  const highestFirst = [...deriver.tiers].sort((a, b) => b.from - a.from);
  const amount = isRecord(document) ? document['amount'] : undefined;
  const usable = typeof amount === 'number' && amount > 0;
  const tier = usable ? highestFirst.find(({ from }) => amount >= from) : highestFirst[0];
  return [...(tier ? [tier.tag] : []), ...(deriver.tags ?? [])];
}

const mcpLabels = {
  server: spellings('server'),
  tool: spellings('tool'),
  resource: spellings('resource'),
  action: spellings('action'),
};

function spellings(part: string): readonly string[] {
  return [`mcp.${part}`, `mcp_${part}`, `mcp${part.charAt(0).toUpperCase()}${part.slice(1)}`];
}

function mcpFacts(label: Facts['label']): McpFacts | undefined {
  const value = (names: readonly string[]) => {
    for (const name of names) {
      const written = label(name);
      if (written !== undefined) return fold(written);
    }
    return '';
  };
  const { server, tool, resource, action } = mcpLabels;
  const facts = { servers: value(server), tools: value(tool), resources: value(resource), actions: value(action) };
  return facts.servers || facts.tools || facts.resources || facts.actions ? facts : undefined;
}

const serverLabels = ({ server_labels }: PolicyRequest, keys: readonly string[]) =>
  keys.map((key) => own(server_labels, key));
const toKeySet = (ids: readonly (string | undefined)[]) =>
  new Set(ids.flatMap((id) => (id?.trim() ? [id.trim()] : [])));

/** An attachment replaces all other keys. It is an id or the name of the attached bundle. */
function jobKeys(request: PolicyRequest): ReadonlySet<string> {
  const attachment = own(request.server_labels, 'policy.attachment_id');
  if (!attachment?.trim()) return toKeySet([request.job_id, ...serverLabels(request, jobLabels)]);
  const bundled = /^(?:job|session)\/(.+)\/policy$/.exec(attachment.trim())?.[1];
  return toKeySet([attachment, bundled && unescaped(bundled)]);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

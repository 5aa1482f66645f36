import type { AuditFact } from '@svc/contract';

/**
 * Canonical JSON (RFC 8785) of an event without `event_hash` and `hmac`: keys in order, no white space, empty fields left out.
 * Written by hand for these fields, because every change of a job passes here.
 *
 * @param prevHash '' for the first event
 */
export function canonicalText(fact: AuditFact, seq: number, prevHash: string): string {
  const { agent_id, agent_name, agent_risk_tier, capabilities, decision, extra, identity, job_id } = fact;
  const { matched_rule, policy_version, reason, risk_tags } = fact;
  let text = `{"action":${quote(fact.action)}`;
  if (agent_id) text += `,"agent_id":${quote(agent_id)}`;
  if (agent_name) text += `,"agent_name":${quote(agent_name)}`;
  if (agent_risk_tier) text += `,"agent_risk_tier":${quote(agent_risk_tier)}`;
  if (capabilities?.length) text += `,"capabilities":${JSON.stringify(capabilities)}`;
  if (decision) text += `,"decision":${quote(decision)}`;
  text += `,"event_type":${quote(fact.event_type)}`;
  const further = extra ? extraText(extra) : '';
  if (further) text += `,"extra":${further}`;
  if (identity) text += `,"identity":${quote(identity)}`;
  if (job_id) text += `,"job_id":${quote(job_id)}`;
  if (matched_rule) text += `,"matched_rule":${quote(matched_rule)}`;
  if (policy_version) text += `,"policy_version":${quote(policy_version)}`;
  if (prevHash) text += `,"prev_hash":"${prevHash}"`;
  if (reason) text += `,"reason":${quote(reason)}`;
  if (risk_tags?.length) text += `,"risk_tags":${JSON.stringify(risk_tags)}`;
  return `${text},"seq":${seq},"severity":"${fact.severity}","tenant_id":${quote(fact.tenant_id)},"timestamp":"${fact.timestamp}"}`;
}

function extraText(extra: Readonly<Record<string, string>>): string {
  const names = Object.keys(extra);
  // Most writers add them in order.
  for (let i = 1; i < names.length; i++) {
    if ((names[i - 1] ?? '') <= (names[i] ?? '')) continue;
    names.sort();
    break;
  }
  let text = '';
  for (const name of names) {
    const value = extra[name];
    if (value) text += `${text ? ',' : ''}${quote(name)}:${quote(value)}`;
  }
  return text && `{${text}}`;
}

/** Text that JSON does not escape. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const quote = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text));

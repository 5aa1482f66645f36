import { classifyAddress } from '@svc/address';
import { fold } from '../compile/glob';
import { needsHuman, refused, type ActionCheckInput, type Objection } from './action-check';
import { exfiltrationHosts, isOneOf, metadataHosts, pasteHosts, privateSuffixes, promptKeys } from './known-hosts';
import { isWrite } from './verbs';

const MAX_QUERY_VALUE_BYTES = 1_024;

/**
 * Blocks requests to networks that are not public, to exfiltration hosts, and queries that contain a prompt. Everything
 * visible in the URL is checked before its host is resolved, since a DNS query alone can leak data. A name is blocked when
 * any of its addresses is not public: the next resolution may return that one.
 * See docs/reference/policy.md#action-checks.
 */
export async function checkUrl(given: ActionCheckInput): Promise<Objection | undefined> {
  const { action } = given;
  if (action.kind !== 'url') return undefined;
  const url = parsed(action.target_url);
  if (!url) return refused('malformed', 'this is no URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refused('scheme', 'only http and https are let out');
  const host = fold(url.hostname).replace(/\.+$/, '');
  if (host === '') return refused('no_host', 'the URL names no host');
  return byName(host, given) ?? byQuery(url) ?? (await byAddress(host, given)) ?? pii(host, given);
}

function parsed(text: string | undefined): URL | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}

function byName(host: string, { action }: ActionCheckInput): Objection | undefined {
  if (isOneOf(host, metadataHosts)) return refused('metadata_service:name', 'the metadata service of a cloud');
  const literal = classifyAddress(host);
  if (literal === 'metadata') return refused('metadata_service:address', 'the metadata service of a cloud');
  if (literal && literal !== 'public') return refused(`dns_resolution:${literal}`, 'the address is not a public one');
  if (!literal && (!host.includes('.') || isOneOf(host, privateSuffixes))) {
    return refused('dns_resolution:private', 'the name is not a public one');
  }
  if (isOneOf(host, exfiltrationHosts)) return refused('exfiltration_host', 'this host is known for data exfiltration');
  if (isWrite(action.verb) && isOneOf(host, pasteHosts)) return refused('paste_api', 'what is pasted there is public');
  return undefined;
}

function byQuery(url: URL): Objection | undefined {
  for (const [name, value] of url.searchParams) {
    const isPrompt = promptKeys.has(fold(name).replaceAll('-', '_'));
    if (isPrompt && Buffer.byteLength(value) > MAX_QUERY_VALUE_BYTES) {
      return refused('prompt_exfil', 'the query contains a prompt');
    }
  }
  return undefined;
}

async function byAddress(host: string, { world }: ActionCheckInput): Promise<Objection | undefined> {
  if (classifyAddress(host)) return undefined;
  const found = await world.resolve(host);
  if (found.kind === 'failed') return refused('dns_resolution:failed', 'the name could not be looked up', 503);
  if (found.kind === 'no_address') return refused('dns_resolution:no_address', 'there is no such host');
  const classes = found.addresses.map((address) => classifyAddress(address) ?? 'reserved');
  if (classes.includes('metadata')) return refused('metadata_service:resolved', 'the metadata service of a cloud');
  const inner = classes.find((kind) => kind !== 'public');
  return inner && refused(`dns_rebind:${inner}`, 'the name leads to an address that is not public');
}

async function pii(host: string, { action, world }: ActionCheckInput): Promise<Objection | undefined> {
  if (!isWrite(action.verb) || !action.risk_tags.some((tag) => fold(tag) === 'data:pii')) return undefined;
  if (await world.hasSeenHost?.(host)) return undefined;
  return needsHuman('pii_new_host', 'personal data is sent to a host for the first time');
}

import { classifyAddress, isInNetworks, parseNetwork, type Network } from '@svc/address';
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { OutboundError } from './outbound-error';
import type { OutboundSettings, Resolve } from './settings';

const MAX_URL_CHARS = 8_192;

/** Targets that a client may request. */
export interface TargetRules {
  httpsOnly: boolean;
  onlyHosts: readonly string[] | undefined;
  allowedHosts: ReadonlySet<string>;
  allowedNetworks: readonly Network[];
}

/** @throws Error for an entry of `allow` that is not an address, a CIDR range or a host name */
export function targetRules({ allow = [], onlyHosts, httpsOnly = false }: OutboundSettings): TargetRules {
  const allowedHosts = new Set<string>();
  const allowedNetworks: Network[] = [];
  for (const entry of allow) {
    const network = parseNetwork(entry);
    if (network) allowedNetworks.push(network);
    else if (/^(?=.*[a-z])[a-z0-9._-]+$/i.test(entry)) allowedHosts.add(normalizeHost(entry));
    else throw new Error(`${JSON.stringify(entry)} is not an address, a CIDR range without host bits, or a host name`);
  }
  return { httpsOnly, onlyHosts: onlyHosts?.map(normalizeHost), allowedHosts, allowedNetworks };
}

/** @throws OutboundError invalid_url */
export function parseUrl(text: string): URL {
  if (text.length > MAX_URL_CHARS || !URL.canParse(text)) throw new OutboundError('invalid_url');
  return new URL(text);
}

/**
 * Runs the checks that need no name resolution. A host that is an address is checked here, because Node connects to it
 * without a lookup. The URL parser has already normalized decimal, octal and hexadecimal spellings.
 *
 * @throws OutboundError scheme_refused, userinfo_refused, host_refused, address_refused
 */
export function checkTarget(url: URL, rules: TargetRules): void {
  const isPermitted = url.protocol === 'https:' || (url.protocol === 'http:' && !rules.httpsOnly);
  if (!isPermitted) throw new OutboundError('scheme_refused');
  if (url.username || url.password) throw new OutboundError('userinfo_refused', { url });
  const host = normalizeHost(url.hostname);
  const isListed = rules.onlyHosts?.some((entry) => host === entry || host.endsWith(`.${entry}`)) ?? true;
  if (!isListed) throw new OutboundError('host_refused', { url });
  const address = bareHost(url);
  if (isIP(address) !== 0 && !isAddressPermitted(address, host, rules)) {
    throw new OutboundError('address_refused', { url, address });
  }
}

/**
 * Lookup function of the connection itself: the checked addresses are those that are connected to, so a different second
 * answer (DNS rebinding) cannot bypass the check. One refused address refuses the name, since the network decides which of
 * several addresses is used.
 */
export function checkedLookup(url: URL, rules: TargetRules, resolve: Resolve = systemLookup): LookupFunction {
  const host = normalizeHost(url.hostname);
  const check = (error: NodeJS.ErrnoException | null, found: LookupAddress[]): OutboundError | undefined => {
    if (error || found.length === 0) return new OutboundError('name_not_resolved', { url, code: error?.code });
    const refused = found.find(({ address }) => !isAddressPermitted(address, host, rules));
    return refused && new OutboundError('address_refused', { url, address: refused.address });
  };
  return (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const failure = check(error, found);
      if (failure) return callback(failure, '');
      if (options.all) return callback(null, found);
      return callback(null, found[0]?.address ?? '', found[0]?.family);
    });
}

function isAddressPermitted(address: string, host: string, { allowedHosts, allowedNetworks }: TargetRules): boolean {
  const kind = classifyAddress(address);
  if (kind === 'public' || isInNetworks(address, allowedNetworks)) return true;
  return (kind === 'loopback' || kind === 'private') && allowedHosts.has(host);
}

/** The host without brackets, as `net.connect` expects it. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

const normalizeHost = (host: string): string => host.toLowerCase().replace(/^\[|\]$/g, '').replace(/\.$/, ''); // prettier-ignore

import { lookup as lookUp, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { ReadFile } from './load-policy';

/** A policy by URL. Policy contract 4.3; operations contract 4.3. */
export interface PolicyUrl {
  url: string;
  /** Hosts, each with its sub-domains; a host that is not among them is refused. */
  allowlist: readonly string[];
  /** Permits hosts within a private network. */
  allowPrivate: boolean;
  /** Permits https only. */
  production: boolean;
}

/** How names are found and how long a host is waited for; what is left out is as in production. */
export interface FetchPorts {
  resolve?: Resolve;
  timeoutMs?: number;
}

/** As the system's own look-up answers when it is asked for all addresses. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

const usualTimeoutMs = 10_000;

/** Networks that a policy host must not be in: what runs there trusts its neighbours. */
const privateNetworks = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12],
  ['192.0.0.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['224.0.0.0', 4], ['240.0.0.0', 4],
] as const) privateNetworks.addSubnet(net, prefix, 'ipv4'); // prettier-ignore
for (const [net, prefix] of [
  ['::', 96], // nowhere, this machine, and IPv4 in its oldest wrapping
  ['64:ff9b::', 96], // these three hold IPv4 addresses
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['2001::', 32],
  ['100::', 64],
  ['fec0::', 10],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  privateNetworks.addSubnet(net, prefix, 'ipv6');

/** Fetches the document. Redirects are refused: they would lead around the checks of the host. */
export function fetchPolicy(source: PolicyUrl, maxBytes: number, ports: FetchPorts = {}): Promise<ReadFile> {
  const url = URL.canParse(source.url) ? new URL(source.url) : undefined;
  const fault = url ? urlFault(url, source) : 'is not a URL';
  if (!url || fault) return Promise.resolve({ ok: false, fault: fault ?? 'is not a URL' });
  return new Promise((done) => {
    const fail = (why: string) => done({ ok: false, fault: why });
    const get = url.protocol === 'https:' ? getSecure : getPlain;
    const lookup = lookupOf(source, ports.resolve);
    const signal = AbortSignal.timeout(ports.timeoutMs ?? usualTimeoutMs);
    const request = get(url, { signal, agent: false, lookup }, (response) => {
      if (response.statusCode !== 200) {
        response.destroy();
        return fail(`is answered ${response.statusCode}, not 200`);
      }
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        parts.push(part);
        if (bytes <= maxBytes) return;
        response.destroy();
        fail(`is more than the ${maxBytes} bytes that are taken`);
      });
      response.on('end', () => done({ ok: true, bytes: Buffer.concat(parts) }));
      response.on('error', (error) => fail(`cannot be fetched (${error.message})`));
    });
    request.on('error', (error) => fail(`cannot be fetched (${error.message})`));
  });
}

function urlFault(url: URL, { allowlist, allowPrivate, production }: PolicyUrl): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' && (production || url.protocol !== 'http:')) return 'must begin with https://';
  const isListed = allowlist.some((entry) => host === entry || host.endsWith(`.${entry}`));
  if (!isListed) return `its host ${host} is not in SAFETY_POLICY_URL_ALLOWLIST`;
  if (isIP(host) && !allowPrivate && isPrivate(host)) return privateFault(host);
  return undefined;
}

const privateFault = (address: string): string =>
  `leads to the private address ${address}; SAFETY_POLICY_URL_ALLOW_PRIVATE permits that`;

/** IPv4 within IPv6 is never needed to reach a public host, and an address of one link leads nowhere else. */
const isPrivate = (address: string): boolean =>
  /^::ffff:/i.test(address) ||
  address.includes('%') ||
  privateNetworks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Looks a name up for a connection that is about to be made. What is checked are the very addresses that are connected to, so
 * that a name cannot be one thing when checked and another after.
 */
const lookupOf =
  ({ allowPrivate }: PolicyUrl, resolve: Resolve = lookUp): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const hidden = error || allowPrivate ? undefined : found.find(({ address }) => isPrivate(address));
      if (error || hidden) return callback(error ?? new Error(privateFault(hidden?.address ?? '')), '');
      if (options.all) return callback(null, found);
      const [first] = found;
      return callback(first ? null : new Error('the host has no address'), first?.address ?? '', first?.family);
    });
  };

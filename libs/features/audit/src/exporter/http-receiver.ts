import { datadogBody, splunkBody, webhookBody, type Origin, type StoredText } from '@svc/audit-formats';
import { createOutboundClient, OutboundError, type OutboundClient, type OutboundTls } from '@svc/outbound';
import type { Clock } from '@svc/platform';
import { createHash, createHmac } from 'node:crypto';
import { unescape } from 'node:querystring';
import type { Delivery, Receiver } from './receiver';

export interface HttpReceiverDeps {
  clock: Pick<Clock, 'nowMs'>;
  origin: Origin;
  tls?: OutboundTls | undefined;
  production: boolean;
}

interface Encoded {
  body: string;
  headers: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 10_000;

/** JSON arrays of at most 100 events. With a secret they are signed, as Standard Webhooks and in `X-Svc-Signature`. */
export function webhookReceiver(deps: HttpReceiverDeps, url: string, secret: string | undefined): Receiver {
  const encode = (events: readonly StoredText[]): Encoded => {
    const body = webhookBody(events);
    return {
      body,
      headers: { 'Content-Type': 'application/json', ...signatureHeaders(deps, secret, buildId(events), body) },
    };
  };
  return httpReceiver(deps, url, 100, encode);
}

/**
 * Headers that sign a body: `X-Svc-Signature` over the body, and those of Standard Webhooks, which cover the time as well.
 *
 * @param id equal for every attempt, so that a receiver can recognize a repetition
 */
export function signatureHeaders(
  { clock }: Pick<HttpReceiverDeps, 'clock'>,
  secret: string | undefined,
  id: string,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(clock.nowMs() / 1_000));
  const common = { 'X-Svc-Timestamp': timestamp, 'Webhook-Id': id, 'Webhook-Timestamp': timestamp };
  if (secret === undefined) return common;
  const standard = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    ...common,
    'X-Svc-Signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'Webhook-Signature': `v1,${standard}`,
  };
}

const buildId = (events: readonly StoredText[]): string =>
  createHash('sha256')
    .update(events.map(({ hash }) => hash).join())
    .digest('hex')
    .slice(0, 32);

/** In Standard Webhooks, `whsec_` precedes the key in base64. */
const standardKey = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);

export const splunkReceiver = (
  deps: HttpReceiverDeps,
  { url, token, index }: { url: string; token: string; index: string | undefined },
): Receiver =>
  httpReceiver(deps, url, 500, (events) => ({
    body: splunkBody(events, deps.origin, index),
    headers: { 'Content-Type': 'application/json', Authorization: `Splunk ${token}` },
  }));

export const datadogReceiver = (
  deps: HttpReceiverDeps,
  { url, apiKey, service }: { url: string; apiKey: string; service: string },
): Receiver =>
  httpReceiver(deps, url, 500, (events) => ({
    body: datadogBody(events, deps.origin, service),
    headers: { 'Content-Type': 'application/json', 'DD-API-KEY': apiKey },
  }));

function httpReceiver(
  deps: HttpReceiverDeps,
  configured: string,
  maxEvents: number,
  encode: (events: readonly StoredText[]) => Encoded,
): Receiver {
  const { url, authorization } = withoutUserinfo(configured);
  const client = operatorClient(url, deps);
  return {
    maxEvents,
    deliver: async (events) => {
      const { body, headers } = encode(events);
      try {
        const { status } = await client.request(url, {
          method: 'POST',
          headers: { ...authorization, ...headers, 'User-Agent': 'svc-control-plane' },
          body,
        });
        return toDelivery(status);
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        return { kind: 'unavailable', reason: error.message };
      }
    },
  };
}

/** A client for one host that the operator chose, which may be in a private network. Without encryption only in development. */
export const operatorClient = (
  url: string,
  { production, tls }: Pick<HttpReceiverDeps, 'production' | 'tls'>,
): OutboundClient => {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return createOutboundClient({
    onlyHosts: [host],
    allow: [host],
    httpsOnly: production,
    timeoutMs: TIMEOUT_MS,
    ...(tls && { tls }),
  });
};

/** Statuses with which a receiver says that these events are at fault. Others, such as 401 or 404, are about the receiver. */
const refusals: readonly number[] = [400, 413, 422];

function toDelivery(status: number): Delivery {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  return { kind: refusals.includes(status) ? 'refused' : 'unavailable', reason: `the receiver answered ${status}` };
}

/** The URL, and its user and password as a header. */
export function withoutUserinfo(text: string): { url: string; authorization: Record<string, string> } {
  const url = new URL(text);
  const { username, password } = url;
  if (username === '' && password === '') return { url: text, authorization: {} };
  const credentials = Buffer.from(`${unescape(username)}:${unescape(password)}`).toString('base64');
  [url.username, url.password] = ['', ''];
  return { url: url.href, authorization: { Authorization: `Basic ${credentials}` } };
}

/** A URL without what may be secret: user, password, query and fragment. */
export function shownUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`;
}

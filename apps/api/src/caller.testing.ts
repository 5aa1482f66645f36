import { gunzipSync } from 'node:zlib';

/** A response as seen by a client; `body` is undefined if there is none. */
export interface HttpAnswer {
  status: number;
  body: Record<string, unknown>;
  headers: Readonly<Record<string, string>>;
}

/** Any JSON; tests assert its shape. Archives are unpacked, so that tests that search for texts find those inside. */
function readBody(type: string, bytes: Buffer): HttpAnswer['body'] {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return { archive: bytes, unpacked: gunzipSync(bytes).toString('utf8') };
  const text = bytes.toString('utf8');
  if (type.startsWith('text/event-stream')) return { events: text };
  return (text ? JSON.parse(text) : undefined) as HttpAnswer['body'];
}

type Headers = Readonly<Record<string, string>>;

/** Sends requests as one caller; paths begin with `/`. */
export interface Calls {
  get(path: string, headers?: Headers): Promise<HttpAnswer>;
  post(path: string, body?: unknown, headers?: Headers): Promise<HttpAnswer>;
  put(path: string, body?: unknown, headers?: Headers): Promise<HttpAnswer>;
  del(path: string, headers?: Headers): Promise<HttpAnswer>;
  /** Sends raw text. */
  send(method: string, path: string, text?: string, headers?: Headers): Promise<HttpAnswer>;
}

export function caller(url: string, identity: Headers): Calls {
  const send: Calls['send'] = async (method, path, text, headers = {}) => {
    const type: Headers = text === undefined ? {} : { 'Content-Type': 'application/json' };
    const response = await fetch(url + path, {
      method: method.toUpperCase(),
      headers: { ...type, ...identity, ...headers },
      ...(text !== undefined && { body: text }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const body = readBody(response.headers.get('content-type') ?? '', bytes);
    return { status: response.status, body, headers: Object.fromEntries(response.headers) };
  };
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body === undefined ? undefined : JSON.stringify(body), headers),
    put: (path, body, headers) => send('PUT', path, body === undefined ? undefined : JSON.stringify(body), headers),
    del: (path, headers) => send('DELETE', path, undefined, headers),
  };
}

/** Status and code of an error response. */
export const statusAndCode = ({ status, body }: HttpAnswer) => ({ status, code: body['code'] });

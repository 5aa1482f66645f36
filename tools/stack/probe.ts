import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** Whether a GET of this URL returns 200. */
export function answersOk(url: string, ca?: Buffer): Promise<boolean> {
  const get = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const request = get(url, { timeout: 2_000, ...(ca && { ca }), agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('error', () => resolve(false)).once('timeout', () => request.destroy());
    request.end();
  });
}

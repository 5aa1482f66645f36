import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { readFileSync } from 'node:fs';
import type { StackInfo } from '../stack';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Record<string, string | string[] | undefined>;
}

/** A REST client of a stack for one of its keys. */
export class Client {
  private readonly ca: Buffer | undefined;

  constructor(
    private readonly info: StackInfo,
    private readonly key: keyof StackInfo['keys'],
  ) {
    this.ca = info.ca_file ? readFileSync(info.ca_file) : undefined;
  }

  get = (path: string) => this.call('GET', path);
  post = (path: string, body: unknown = {}) => this.call('POST', path, body);
  delete = (path: string) => this.call('DELETE', path);

  private call(method: string, path: string, body?: unknown): Promise<Answer> {
    const url = new URL(path, this.info.base_url);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const headers = {
        'X-API-Key': this.info.keys[this.key],
        ...(text !== undefined && { 'Content-Type': 'application/json' }),
      };
      const req = send(url, { method, headers, ...(this.ca && { ca: this.ca }) }, (res) => {
        const parts: Buffer[] = [];
        res.on('data', (part: Buffer) => parts.push(part));
        res.once('error', reject);
        res.once('end', () => {
          const raw = Buffer.concat(parts).toString('utf8');
          const parsed: unknown = raw === '' ? {} : JSON.parse(raw);
          resolve({ status: res.statusCode ?? 0, body: parsed as Record<string, unknown>, headers: res.headers });
        });
      });
      req.once('error', reject);
      req.end(text);
    });
  }
}

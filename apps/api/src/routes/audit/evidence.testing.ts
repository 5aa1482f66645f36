import { readArchive, verifyArchive } from 'svc-verify';
import { Findings, type EvidenceReport } from '@svc/evidence-format';
import { generateKeyPairSync } from 'node:crypto';
import type { Api } from '../../api.testing';
import type { HttpAnswer } from '../../caller.testing';
import type { Who } from '../../identities.testing';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');

/** The key that signs checkpoints and bundles. */
export const auditKeys = {
  publicKey,
  env: { SVC_AUDIT_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
};

export interface AnsweredBundle {
  status: number;
  body: HttpAnswer['body'];
  headers: HttpAnswer['headers'];
  archive: Buffer;
}

/** Requests and reads bundles. */
export function evidenceClient(api: Api) {
  const ask = async (body: object, who: Who = 'admin'): Promise<AnsweredBundle> => {
    const answer = await api.as(who).post('/api/v1/audit/evidence', body);
    const archive = answer.body?.['archive'];
    return { ...answer, archive: Buffer.isBuffer(archive) ? archive : Buffer.alloc(0) };
  };
  const get = async (body: object, who: Who = 'admin'): Promise<AnsweredBundle> => {
    const answer = await ask(body, who);
    expect([answer.status, answer.body?.['error']]).toEqual([200, undefined]);
    return answer;
  };
  return {
    ask,
    get,
    verify: async (body: object, options = {}): Promise<EvidenceReport> =>
      verifyArchive((await get(body)).archive, { keys: [publicKey], ...options }),
  };
}

/** The text of each member. */
export async function readTexts(archive: Buffer): Promise<Record<string, string>> {
  const members = await readArchive(archive, new Findings());
  return Object.fromEntries(members.map(({ path, body }) => [path, body.toString('utf8')]));
}

/** A member that is JSON. */
export async function readJson<T>(archive: Buffer, path: string): Promise<T> {
  return JSON.parse((await readTexts(archive))[path] ?? 'null') as T;
}

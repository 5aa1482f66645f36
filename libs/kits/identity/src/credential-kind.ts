import { bareKey, sessionCookies, type Presented } from './authenticate';
import { sessionPrefix } from './sessions';

/** Kinds of credentials, for logs and the audit. */
export type CredentialKind =
  'jwt' | 'session' | 'password' | 'api_key' | 'web_socket_key' | 'signed_url' | 'scim_token' | 'sso' | 'none';

/** The kind of the presented credential that decides, valid or not. It does not depend on whether it is known. */
export function findCredentialKind({ authorization, apiKey, cookie, protocols }: Presented): CredentialKind {
  const token = /^bearer +(\S.*)$/i.exec(authorization?.trim() ?? '')?.[1];
  if (token) return token.startsWith(sessionPrefix) ? 'session' : 'jwt';
  const key = bareKey(apiKey ?? '');
  if (key) return key.startsWith(sessionPrefix) ? 'session' : 'api_key';
  if (sessionCookies(cookie).length > 0) return 'session';
  return protocols ? 'web_socket_key' : 'none';
}

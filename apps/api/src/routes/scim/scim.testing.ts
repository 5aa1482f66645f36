import type { Api } from '../../api.testing';
import type { Calls } from '../../caller.testing';
import { caller } from '../../caller.testing';

export const scimToken = 'scim-Zk3JpQ7vTn5xLw2HsYb8RdMc4GfUa6Ee9Ko1Vi0Xq';
export const scimEnv = { SVC_SCIM_BEARER_TOKEN: scimToken };

/** Calls of a SCIM client. Paths are below the base of the protocol. */
export function scimClient({ url }: Pick<Api, 'url'>, token = scimToken): Calls {
  return caller(`${url}/api/v1/scim/v2`, { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' });
}

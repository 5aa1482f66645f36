import type { Api } from '../../api.testing';
import type { Calls } from '../../caller.testing';

/** A stored policy with one rule that denies a topic. */
export const ban = (id: string, topic: string) =>
  `rules:\n  - { id: ${id}, decision: deny, match: { topics: [ ${topic} ] } }\n`;

/** Client of the bundle routes; ids have `~` for `/`. */
export function bundleCalls(api: Api) {
  const path = (id: string, query = '') => `/api/v1/policy/bundles/${id}${query}`;
  return {
    put: (id: string, body: object, headers = {}, query = '', as: Calls = api.as('admin')) =>
      as.put(path(id, query), body, headers),
    get: (id: string, query = '') => api.as('admin').get(path(id, query)),
    remove: (id: string, headers = {}, as: Calls = api.as('admin')) => as.del(path(id), headers),
    list: (as: Calls = api.as('admin')) => as.get('/api/v1/policy/bundles'),
    submit: (topic: string) => api.as('user').post('/api/v1/jobs', { prompt: 'x', topic }),
    /** An arbitrary valid text. */
    content: (id: string) => ban(id, `job.${id}`),
  };
}

/** Replaces all stored bundles without the routes. */
export async function storeBundles(api: Api, bundles: Record<string, unknown>): Promise<void> {
  const place = { scope: 'system', scope_id: 'policy' };
  const [stored] = await api.store.config.documents([['system', 'policy']]);
  const read = stored?.revision ?? 0;
  const document = { ...place, data: { bundles }, revision: read + 1, updated_at: '2026-01-01T00:00:00Z', meta: {} };
  if (!(await api.store.config.replace(document, read))) throw new Error('concurrent write');
}

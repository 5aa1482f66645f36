import type { Api } from '../../api.testing';
import type { Calls } from '../../caller.testing';

/** A policy of one rule that denies a topic. */
export const ban = (id: string, topic: string) =>
  `rules:\n  - {id: ${id}, decision: deny, match: {topics: [${topic}]}}\n`;

/** Calls of the bundle routes; ids have `~` for `/`. */
export function bundleCalls(api: Api) {
  const path = (id: string, query = '') => `/api/v1/policy/bundles/${id}${query}`;
  return {
    put: (id: string, body: object, headers = {}, query = '', as: Calls = api.as('admin')) =>
      as.put(path(id, query), body, headers),
    get: (id: string, query = '') => api.as('admin').get(path(id, query)),
    remove: (id: string, headers = {}, as: Calls = api.as('admin')) => as.del(path(id), headers),
    list: (as: Calls = api.as('admin')) => as.get('/api/v1/policy/bundles'),
    submit: (topic: string) => api.as('user').post('/api/v1/jobs', { prompt: 'x', topic }),
    /** A text that is as good as any other. */
    content: (id: string) => ban(id, `job.${id}`),
  };
}

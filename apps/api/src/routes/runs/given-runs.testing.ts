import type { Api } from '../../api.testing';
import type { Who } from '../../identities.testing';

export interface HowToStart {
  workflow?: string;
  query?: string;
  who?: Who;
  headers?: Record<string, string>;
}

/** Client for tests of runs. */
export function createRunClient(api: Api) {
  const as = (who: Who) => api.as(who);
  const use = {
    async workflow(steps: object, more: object = {}, who: Who = 'admin'): Promise<void> {
      const { status, body } = await as(who).post('/api/v1/workflows', {
        id: 'intake',
        name: 'Intake',
        steps,
        ...more,
      });
      if (status !== 201) throw new Error(`not stored: ${JSON.stringify(body)}`);
    },
    start: (input: object = {}, { workflow = 'intake', query = '', who = 'admin', headers = {} }: HowToStart = {}) =>
      as(who).post(`/api/v1/workflows/${workflow}/runs${query}`, input, headers),
    /** Starts a run. @returns its id */
    async run(input: object = {}, how: HowToStart = {}): Promise<string> {
      const { status, body } = await use.start(input, how);
      if (status !== 200) throw new Error(`not started: ${JSON.stringify(body)}`);
      return String(body['run_id']);
    },
    get: async (id: string, who: Who = 'viewer') => as(who).get(`/api/v1/workflow-runs/${id}`),
    /** Items of a list. */
    async list(query = '', who: Who = 'viewer') {
      const { status, body } = await as(who).get(`/api/v1/workflow-runs${query}`);
      const { items = [], next_cursor: next } = body as { items?: Record<string, unknown>[]; next_cursor?: number };
      return { status, ids: items.map(({ id }) => id), items, next };
    },
    postMessage: (id: string, body: object, who: Who = 'admin') =>
      as(who).post(`/api/v1/workflow-runs/${id}/chat`, body),
    chat: async (id: string, query = '', who: Who = 'viewer') => {
      const { status, body } = await as(who).get(`/api/v1/workflow-runs/${id}/chat${query}`);
      return { status, ...(body as { items: { role: string; content: string }[]; next_cursor?: number }) };
    },
  };
  return use;
}

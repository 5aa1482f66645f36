import type { Api } from '../../api.testing';
import type { HttpAnswer } from '../../caller.testing';

export const entry = (id: string, topic: string, expected_decision: string, input: object = {}) => ({
  id,
  input: { topic, ...input },
  expected_decision,
});
/** Entries that the shipped policy decides as expected. */
export const passing = [
  entry('echo', 'job.demo.echo', 'ALLOW'),
  entry('wipe', 'job.demo.wipe', 'DENY', { risk_tags: ['destructive'] }),
  entry('refund', 'job.demo.refund', 'REQUIRE_APPROVAL', { metadata: { amount: 900 } }),
];
/** Many entries on one topic. */
export const many = (count: number, expected = 'ALLOW') =>
  Array.from({ length: count }, (_, i) => entry(`e${i}`, 'job.demo.echo', expected));

/** Client of the routes of evaluations. */
export function evalCalls(api: Api, as = () => api.as('admin')) {
  const create = (name: string, entries: readonly object[], more: object = {}) =>
    as().post('/api/v1/evals/datasets', { name, entries, ...more });
  return {
    create,
    /** @returns the id of a new dataset */
    async dataset(name: string, entries: readonly object[]): Promise<string> {
      const { status, body } = await create(name, entries);
      if (status !== 201) throw new Error(`not created: ${status} ${JSON.stringify(body)}`);
      return String(body['id']);
    },
    get: (path: string) => as().get(`/api/v1/evals/${path}`),
    del: (path: string) => as().del(`/api/v1/evals/${path}`),
    put: (id: string, body: object) => as().put(`/api/v1/evals/datasets/${id}`, body),
    run: (id: string, body?: object) => as().post(`/api/v1/evals/datasets/${id}/run`, body),
    compare: (id: string, left: object, right: object, more: object = {}) =>
      as().post(`/api/v1/evals/datasets/${id}/compare`, { left, right, ...more }),
  };
}

export const readItems = ({ body }: HttpAnswer) => body['items'] as Record<string, unknown>[];

import { keys } from '@svc/store';
import request from 'supertest';
import { apiKeys, useAdminSite } from './admin.testing';

interface Node {
  id: string;
  name: string;
  state: string;
  queueName: string;
  children: Node[];
}

describe('the flow of a run in the board', () => {
  const site = useAdminSite();
  const flow = async (queue: string, id: string, apiKey: string = apiKeys.admin): Promise<Node | null> => {
    const { body } = await request(site.url)
      .get(`/admin/queues/api/queues/${queue}/${encodeURIComponent(id)}/flow`)
      .set({ 'X-API-Key': apiKey });
    // Absent from the 404 response for a hidden entry.
    return (body as { flowRoot?: Node }).flowRoot ?? null;
  };
  const plain = ({ name, state, children }: Node): unknown => [name, state, children.map(plain)];

  /** A run of the admin's or another tenant, with an active and a failed step. */
  async function given(tenant: string): Promise<void> {
    const { runs, workflows } = site.store;
    await workflows.write({ tenant, id: 'cargo', document: { id: 'cargo' }, by: 'ann' });
    await runs.create({
      id: 'r1',
      tenant,
      workflow: { id: 'cargo', version: 1 },
      header: {},
      events: [],
      start: { kind: 'start' },
      name: 'Cargo intake',
      limits: { tenant: 0, all: 0 },
    });
    await site.store.lease(keys.runLock('r1'), 'me', 60_000).hold();
    const tree = [
      { path: 'weigh', parent: '', name: 'Weigh', begins: true },
      { path: 'weigh[0]', parent: 'weigh', name: 'weigh[0]', begins: true },
      { path: 'note', parent: '', name: 'Note', begins: true, ends: 'failed', reason: 'no ink' },
    ];
    await runs.save({ id: 'r1', revision: 1, owner: 'me', token: 't', tree });
  }
  const tree = ['Cargo intake', 'waiting-children', [['Note', 'failed', []], ['Weigh', 'waiting-children', [['weigh[0]', 'waiting-children', []]]]]]; // prettier-ignore
  const sorted = (node: Node | null): unknown =>
    node && plain({ ...node, children: [...node.children].sort((a, b) => (a.name < b.name ? -1 : 1)) });

  it('is a tree, from the run and from any step of it', async () => {
    await given('acme');

    expect(sorted(await flow('workflow-runs', 'run-r1'))).toEqual(tree);
    expect(sorted(await flow('workflow-steps', 'run-r1~weigh[0]'))).toEqual(tree);
  });

  it('of another tenant is not shown', async () => {
    await given('globex');

    expect(await flow('workflow-runs', 'run-r1')).toBeNull();
    expect(await flow('workflow-steps', 'run-r1~weigh')).toBeNull();
  });
});

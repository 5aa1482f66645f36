import { keys, type GateTerms } from '@svc/store';
import type { Api } from '../../api.testing';
import type { GivenJob } from '../../given-jobs.testing';
import { person, type Person } from '@svc/testing';

/** API keys of different users. */
export const crowd = (count: number): Person[] => Array.from({ length: count }, (_, i) => person(`p${i}`));

export function givenGates(api: Api) {
  const run = async (id = 'r1'): Promise<string> => {
    await api.store.workflows.write({ tenant: 'acme', id: 'cargo', document: { id: 'cargo' }, by: 'ann' });
    const outcome = await api.store.runs.create({
      id,
      tenant: 'acme',
      workflow: { id: 'cargo', version: 1 },
      header: {},
      events: [],
      limits: { tenant: 0, all: 0 },
      start: { kind: 'start' },
    });
    if (outcome.kind !== 'created') throw new Error(`not created: ${outcome.kind}`);
    return id;
  };
  return {
    run,
    /** Ends a run with its pending approvals. */
    async ended(id: string): Promise<void> {
      await api.store.lease(keys.runLock(id), 'me', 60_000).hold();
      const end = { to: 'cancelled', keepSec: 600 } as const;
      const outcome = await api.store.runs.save({ id, revision: 1, owner: 'me', token: 't', status: end });
      if (outcome.kind !== 'saved') throw new Error(`not saved: ${outcome.kind}`);
    },
    /** Creates an approval step of the run r1, which dora started; returns the id of its job. */
    async gate(terms: Partial<GateTerms> = {}, over: GivenJob = {}): Promise<string> {
      if (!(await api.store.runs.header('r1'))) await run();
      return api.given.job({
        id: 'r1:ask@1',
        state: 'APPROVAL_REQUIRED',
        topic: 'job.svc.approval-gate',
        submitter: 'apikey:key-of-dora|principal:dora',
        approval: { gate: { quorum: 1, exclude_starter: true, requester: 'dora', ...terms } },
        labels: { workflow_id: 'cargo', run_id: 'r1', step_id: 'ask', gate_type: 'workflow_approval' },
        ...over,
        fields: { run: 'r1', ...over.fields },
      });
    },
    /** Events that a run received since it began. */
    async runEvents(id = 'r1'): Promise<Record<string, unknown>[]> {
      const events = await api.store.redis.lrange(keys.runInbox(id), 0, -1);
      return events.map((event) => JSON.parse(event) as Record<string, unknown>).filter(({ kind }) => kind !== 'start');
    },
  };
}

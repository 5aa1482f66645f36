import { canBeNatsUser, readSentBy, sentBySubject, subjectsFromWorkers, workerImports } from './worker-access';

describe('subjects of a worker with a credential', () => {
  it('name the worker, and are read back; others are of no worker', () => {
    for (const subject of subjectsFromWorkers)
      expect(readSentBy(sentBySubject('w-1', subject))).toEqual({ worker: 'w-1', subject });
    const others = ['sys.heartbeat', 'worker.w-1.jobs', 'worker.w-1.cancel', 'worker.a.b.sys.heartbeat', 'worker.w-1.sys', 'worker..sys.x']; // prettier-ignore
    for (const subject of others) expect([subject, readSentBy(subject)]).toEqual([subject, undefined]);
  });

  it('are those of that worker only, and give no access to streams or to the creation of consumers', () => {
    const imports = workerImports('w-1');

    const foreign = imports.filter(({ services }) => !/(?<=^|[._])w-1(?=$|[._])/.test(services));
    expect(foreign.map(({ services }) => services)).toEqual(['$JS.API.INFO']);
    expect(imports.filter(({ services }) => /STREAM|CREATE|DELETE|DURABLE|\*/.test(services))).toEqual([]);
    const received = imports.filter(({ kind }) => kind === 'stream').map(({ subject }) => subject);
    expect(received).toEqual(['worker.w-1.jobs', 'sys.job.cancel']);
  });

  it('exist for ids that can be the name of a user', () => {
    expect(['w1', 'svc', 'a.b', ''].map((id) => canBeNatsUser(id))).toEqual([true, false, false, false]);
  });
});

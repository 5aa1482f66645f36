import { createBullBoard } from '@bull-board/api';
import type { AppControllerRoute } from '@bull-board/api/typings/app';
import { queues } from '@svc/queues.config';
import { keys } from '@svc/store';
import request from 'supertest';
import { apiKeys, useAdminSite } from './admin.testing';
import { givenJobs } from './jobs.testing';
import { LocalBoard, withoutRemoteLinks } from './local-board';
import { hiddenName } from './tenant-queue';

interface Entry {
  id: string;
  name: string;
  data: unknown;
  failedReason: string;
  externalUrl?: { href: string; displayText?: string };
}
interface ShownQueue {
  name: string;
  displayName: string;
  description: string;
  readOnlyMode: boolean;
  jobs: Entry[];
}

/** Bull Board's routes, read from its own table, so that new ones are covered. */
function boardRoutes(): { verb: 'get' | 'post' | 'put' | 'patch'; path: string }[] {
  let routes: AppControllerRoute[] = [];
  class Listing extends LocalBoard {
    override setApiRoutes(given: AppControllerRoute[]) {
      routes = given;
      return this;
    }
  }
  createBullBoard({ queues: [], serverAdapter: new Listing() });
  return routes.flatMap(({ method, route }) =>
    [method].flat().flatMap((verb) => [route].flat().map((path) => ({ verb, path }))),
  );
}

describe('the board', () => {
  const site = useAdminSite();
  const get = (path: string, apiKey: string = apiKeys.admin) =>
    request(site.url)
      .get(`/admin/queues${path}`)
      .set(apiKey ? { 'X-API-Key': apiKey } : {});
  const getEntries = async (queue: keyof typeof queues, apiKey: string = apiKeys.admin): Promise<Entry[]> => {
    const { name } = queues[queue];
    const { body } = await get(`/api/queues?activeQueue=${name}&page=1&jobsPerPage=10`, apiKey);
    return (body as { queues: ShownQueue[] }).queues.find((shown) => shown.name === name)?.jobs ?? [];
  };

  it('303: a browser that is not signed in is redirected to the sign-in page', async () => {
    const browse = (path: string) => request(site.url).get(path).set('Accept', 'text/html,*/*;q=0.8');

    expect((await browse('/admin')).get('Location')).toBe('/admin/queues');
    expect((await browse('/admin/queues')).get('Location')).toBe('/admin/login?next=%2Fadmin%2Fqueues');
    expect((await browse('/admin/queues/queue/jobs?status=failed')).get('Location')).toBe('/admin/login');
  });

  it.each(['', '/api/queues', '/static/favicon.ico'])('401: a program without credentials cannot read %s', async (path) => {
    expect((await get(path, '')).body).toEqual({ error: 'unauthorized', code: 'unauthorized', status: 401 });
    expect((await get(path, 'wrong')).status).toBe(401);
  }); // prettier-ignore

  it('429: failed attempts are rate limited as on the REST routes', async () => {
    site.set.addressesAreSpent = true;

    expect((await get('/api/queues', 'wrong')).status).toBe(429);
    expect((await get('/api/queues', apiKeys.admin)).status).toBe(200);
  });

  it.each([false, true])('403: admins only, with RBAC %s', async (rbac) => {
    site.set.rbac = rbac;

    const data = await get('/api/queues', apiKeys.viewer);
    const page = await get('', apiKeys.viewer).set('Accept', 'text/html');

    expect(data.body).toEqual({ error: 'access denied', code: 'access_denied', status: 403 });
    expect([page.status, page.type]).toEqual([403, 'text/html']);
    expect((await get('/api/queues')).status).toBe(200);
  });

  it('shows every queue of the table by its title and purpose', async () => {
    const { body } = await get('/api/queues?page=1&jobsPerPage=10');

    const shown = (body as { queues: ShownQueue[] }).queues;
    expect(shown.map(({ name, displayName, description }) => [name, displayName, description])).toEqual(
      Object.values(queues).map(({ name, title, purpose }) => [name, title, purpose]),
    );
  });

  it('shows an entry with its topic, its job and a link to the page of the job', async () => {
    await givenJobs(site.store).toDecide('bus:7', { topic: 'job.translate' });

    expect(await getEntries('jobs')).toMatchObject([
      {
        id: 'job-bus~7-submit',
        name: 'job.translate',
        data: { job_id: 'bus:7' },
        externalUrl: { href: '/admin/jobs/bus%3A7', displayText: 'Open job bus:7' },
      },
    ]);
  });

  it('loads local files only, enforced by its content security policy', async () => {
    const page = await get('');

    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.get('Content-Security-Policy')).toMatch(/default-src 'none'; script-src 'self';/);
    expect(page.get('X-Powered-By')).toBeUndefined();
    const scripts = [...page.text.matchAll(/src="(static[^"]+)"/g)].map(([, path]) => path);
    expect(scripts.length).toBeGreaterThan(0);
    for (const path of scripts) expect((await get(`/${path}`)).status).toBe(200);
    expect(withoutRemoteLinks('<link rel="x" href="https://a.example/b"><link href="static/c">')).toBe(
      '<link href="static/c">',
    );
  });

  it('405: no button has an effect, for any queue', async () => {
    const given = givenJobs(site.store);
    await given.toDecide('j1');
    await given.held('j2');
    await given.failed('j3');
    const before = await everything();

    const writes = boardRoutes().filter(({ verb }) => verb !== 'get');
    for (const { verb, path } of writes) {
      for (const [queue, job] of [
        ['jobs', 'job-j1-submit'],
        ['jobs-held', 'job-j2'],
        ['dead-letters', 'job-j3'],
      ] as const) {
        const target = path.replace(':queueName', queue).replace(':jobId', job).replace(/:\w+/g, 'failed');
        const answer = await request(site.url)[verb](`/admin/queues${target}`).set('X-API-Key', apiKeys.admin).send({});
        expect([verb, target, answer.status]).toEqual([verb, target, 405]);
      }
    }

    expect(writes.length).toBeGreaterThan(15);
    expect(await everything()).toEqual(before);
  });

  it('is read-only in each queue, even if another method were allowed', async () => {
    const { body } = await get('/api/queues?page=1&jobsPerPage=10');

    const open = (body as { queues: ShownQueue[] }).queues.filter(({ readOnlyMode }) => !readOnlyMode);
    expect(open).toEqual([]);
  });

  it('shows an admin of one tenant only the presence of another tenant’s jobs', async () => {
    const given = givenJobs(site.store);
    await given.failed('ours', { topic: 'job.ours' });
    await given.failed('theirs', { topic: 'job.secret', tenant: 'globex', reason: 'secret reason' });

    const seen = await getEntries('deadLetters');
    const one = await get('/api/queues/dead-letters/theirs');

    expect(seen.map(({ name }) => name).sort()).toEqual([hiddenName, 'job.ours']);
    expect(JSON.stringify([seen, one.body])).not.toContain('secret');
    expect(seen.find(({ name }) => name === hiddenName)?.externalUrl?.href ?? '').toBe('');
    expect((await getEntries('deadLetters', apiKeys.other)).map(({ name }) => name)).toContain('job.secret');
    expect((await getEntries('deadLetters', apiKeys.everywhere)).map(({ name }) => name).sort()).toEqual([
      'job.ours',
      'job.secret',
    ]);
  });

  it('hides id, options, parent and times of an entry of another tenant', async () => {
    const given = givenJobs(site.store);
    await given.failed('secret-of-globex', { topic: 'job.a', tenant: 'globex' });
    await given.failed('secret-too', { topic: 'job.b', tenant: 'globex' });

    const seen = await getEntries('deadLetters');

    expect(JSON.stringify(seen)).not.toContain('secret');
    expect(new Set(seen.map(({ id }) => id)).size).toBe(2);
    for (const entry of seen) {
      expect(entry).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{16}$/), timestamp: 0, opts: {}, data: {} });
      expect(entry).not.toHaveProperty('finishedOn');
    }
    const theirs = (await getEntries('deadLetters', apiKeys.other)).map(({ id }) => id).sort();
    expect(theirs).toEqual(['job-secret-of-globex', 'job-secret-too']);
  });

  it('404: a guessed id of another tenant’s entry, as for a missing entry', async () => {
    await givenJobs(site.store).failed('theirs', { topic: 'job.a', tenant: 'globex' });

    const [guessed, absent] = [
      await get('/api/queues/dead-letters/job-theirs'),
      await get('/api/queues/dead-letters/x'),
    ];

    expect([guessed.status, guessed.body]).toEqual([404, absent.body]);
    expect((await get('/api/queues/dead-letters/job-theirs', apiKeys.other)).status).toBe(200);
  });

  it('shows Redis and its clients to operators only', async () => {
    const reads = boardRoutes().filter(({ verb, path }) => verb === 'get' && path.startsWith('/api/'));

    for (const { path } of reads) {
      const target = path.replace(':queueName', 'jobs').replace(':jobId', 'none').replace(/:\w+/g, 'x');
      const { text } = await get(target, apiKeys.other);
      for (const internal of ['fragmentationRatio', 'connected', 'blocked', '"addr"', '127.0.0.1']) {
        expect([target, text.includes(internal)]).toEqual([target, false]);
      }
    }

    expect(reads.length).toBeGreaterThan(5);
    expect((await get('/api/redis/stats', apiKeys.other)).status).toBe(404);
    for (const operator of [apiKeys.admin, apiKeys.everywhere]) {
      expect((await get('/api/redis/stats', operator)).body).toHaveProperty('memory');
    }
  });

  it('shows a tenant its dead letters even after the job record expired', async () => {
    await givenJobs(site.store).failed('old', { topic: 'job.old' });
    await site.redis.del(keys.job('old'));

    expect((await getEntries('deadLetters')).map(({ name }) => name)).toEqual(['job.old']);
    expect((await getEntries('deadLetters', apiKeys.other)).map(({ name }) => name)).toEqual([hiddenName]);
  });

  it('shows logs of an entry to its tenant only', async () => {
    await givenJobs(site.store).failed('j', { topic: 'job.old' });
    await site.redis.rpush(keys.queue('dead-letters', 'job-j:logs'), 'a line');

    expect((await get('/api/queues/dead-letters/job-j/logs')).body).toEqual(['a line']);
    expect((await get('/api/queues/dead-letters/job-j/logs', apiKeys.other)).body).toEqual([]);
  });

  /** All contents of the store. */
  async function everything(): Promise<unknown[]> {
    const names = (await site.redis.keys('*')).sort();
    return Promise.all(names.map(async (name) => [name, (await site.redis.dumpBuffer(name))?.toString('base64')]));
  }
});

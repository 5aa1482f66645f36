import { type AuditEventView, endpoints, type Endpoint } from '@svc/contract';
import { keys } from '@svc/store';
import { useApi } from './api.testing';
import { fieldsOfAForm } from './filled-body.testing';
import { canaries, leaks } from './fuzz/canaries.testing';
import type { Who } from './identities.testing';
import { plantBelongings, type Planted } from './tenant-belongings.testing';
import { bodyFor, formedFields, buildTargets, walked } from './tenant-requests.testing';

jest.setTimeout(60_000);

/** Response to a caller of another tenant, by the declaration of the endpoint. */
const answers = {
  tenant_access_denied: { status: 403, body: { code: 'tenant_access_denied' } },
  approval_forbidden: { status: 403, body: { code: 'approval_forbidden' } },
  data_url_invalid: { status: 401, body: { code: 'data_url_invalid' } },
  absent: { status: 404 },
  nothing: { status: 200, body: [] },
};

/**
 * Texts that no endpoint returns, even to the tenant: policy requests, dry runs, signals that wait for an engine,
 * replaced or withheld values, and fields for policy and workers only.
 */
const inNoRecord =
  /^(policy.(evaluate|simulate|explain|simulateBundle|replay|analytics)|workflows.dryRun|runs.signal|schedules.add|withheld$|jobs.submit (tags|project_id)|workflows.put created_by)/;

const others: readonly Who[] = ['other', 'otherOperator', 'otherUser', 'otherViewer', 'otherClerk'];
const table: readonly Endpoint[] = endpoints;

/** Fields of the service itself, which differ between two reads on a slow machine. */
const volatile = ['generated_at', 'time', 'uptime_seconds', 'goroutine_count'];

describe('another tenant', () => {
  const api = useApi(walked);
  // Every feature is licensed, so that permissions alone decide.
  beforeEach(() => api.license('enterprise'));

  /** Calls an endpoint with every record id of the tenant that fits it, and with texts of the caller. */
  async function callWith(endpoint: Endpoint, planted: Planted, who: Who | undefined) {
    const own = canaries();
    const key = planted.canaries.find(({ place }) => place === 'jobs.submit idempotency_key')?.text ?? '';
    const words = (place: string) =>
      place.endsWith('idempotency_key') ? key : own.of(place).replace('Canary', 'Finch');
    const as = who ? api.as(who) : api.anonymous;
    const calls = [];
    for (const target of buildTargets(endpoint, planted)) {
      const body = bodyFor(endpoint, words, 'globex', planted);
      const answer = await as.send(endpoint.method, target, body);
      calls.push({ sent: `${decodeURIComponent(target)} ${body ?? ''}`, target, answer });
    }
    return calls;
  }

  // Explanations, analytics and the end of a session contain the time, and records of the installation belong to no tenant.
  const lasting = table.filter(
    ({ method, path, access, owner }) =>
      method === 'get' &&
      access !== 'public' &&
      !owner &&
      !/\/explain$|\/auth\/session$|\/governance\/(?:approvals\/analytics|usage|coverage|health)$/.test(path),
  );

  /** Every response that the tenant itself reads, without response times. */
  async function readAll(planted: Planted): Promise<string[]> {
    const answers: string[] = [];
    for (const target of lasting.flatMap((one) => buildTargets(one, planted))) {
      const { status, body } = await api.as('admin').get(target);
      const text = JSON.stringify(body ?? '', (name, value: unknown) => (volatile.includes(name) ? '' : value));
      answers.push(`${target}: ${status} ${text}`);
    }
    return answers;
  }

  /** Texts and ids of the tenant, without those the caller sent itself, which a response may repeat. */
  const getSecrets = (planted: Planted, sent: string) => {
    const { held, done, failed, denied, quarantined, submitted, artifact, schedule, run, again } = planted;
    const ids = { held, done, failed, denied, quarantined, submitted, artifact, schedule, run, again };
    const all = [...planted.canaries, ...Object.entries(ids).map(([name, text]) => ({ place: `id of ${name}`, text }))];
    return all.filter(({ text }) => !sent.includes(text));
  };

  it('reads no text and no id of the tenant in any response, in any role', async () => {
    const planted = await plantBelongings(api);
    const found: string[] = [];
    let sentSoFar = '';

    for (const who of [...others, undefined]) {
      for (const endpoint of table) {
        for (const { sent, target, answer } of await callWith(endpoint, planted, who)) {
          sentSoFar += sent;
          const where = `${endpoint.method} ${target} as ${who ?? 'anonymous'}: ${answer.status}`;
          found.push(...leaks(where, JSON.stringify(answer), getSecrets(planted, sentSoFar)));
          if (answer.status >= 500 || answer.status === 429) found.push(where);
        }
      }
    }

    expect(found).toEqual([]);
  });

  it('changes nothing of the tenant', async () => {
    const planted = await plantBelongings(api);
    const packets = await api.packets();
    const inbox = () => api.store.redis.lrange(keys.runInbox(planted.run), 0, -1);
    // Some reads are events themselves, so the chain grows with each read.
    const readRecords = async () => (await readAll(planted)).filter((answer) => !answer.startsWith('/api/v1/audit/'));
    const acts = async () => {
      const { items } = (await api.as('admin').get('/api/v1/audit/events?limit=200')).body as {
        items: (AuditEventView & { id: string })[];
      };
      return items
        .filter((event) => event.event_type !== 'governance.read')
        .map(({ event_hash: _, prev_hash: _prev, id: _id, seq: _seq, ...act }) => act);
    };
    const before = [await readRecords(), await inbox(), await acts()];

    const writes = table.filter(({ method, path, owner }) => method !== 'get' && path.includes(':') && !owner);
    for (const endpoint of writes) {
      await callWith(endpoint, planted, 'other');
    }

    expect([await readRecords(), await inbox(), await acts()]).toEqual(before);
    expect(await api.packets()).toEqual(packets);
  });

  it('gets the response that the endpoint declares', async () => {
    const planted = await plantBelongings(api);

    for (const endpoint of table.filter(({ otherTenant }) => otherTenant)) {
      for (const { target, answer } of await callWith(endpoint, planted, 'other')) {
        const expected = answers[endpoint.otherTenant ?? 'absent'];
        expect({ target, ...answer }).toMatchObject({ target, ...expected });
      }
    }
  });

  it('the walk covers every kind of record: each endpoint with a body stores one of the tenant, or belongs to the installation', async () => {
    const planted = await plantBelongings(api);

    const walkedBodies = table.filter(
      ({ body, formBody, signedUrl, ownCredential }) => body && !formBody && !signedUrl && !ownCredential,
    );
    for (const endpoint of walkedBodies.filter(({ id }) => !planted.through.has(id))) {
      const text = bodyFor(endpoint, (place) => place.replace(/\W/g, ''), 'acme', planted);
      const { status, body } = await api
        .as('admin')
        .send(endpoint.method, buildTargets(endpoint, planted)[0] ?? '', text);

      const isRefused = ['tenant_access_denied', 'CONFIG_KEY_FORBIDDEN'].includes(String(body['code']));
      expect([endpoint.id, endpoint.owner, status, isRefused]).toEqual([endpoint.id, 'installation', 403, true]);
    }
  });

  it('is kept from texts that the tenant itself reads', async () => {
    const planted = await plantBelongings(api);

    const text = (await readAll(planted)).join();

    const unread = planted.canaries.filter((one) => leaks('', text, [one]).length === 0).map(({ place }) => place);
    expect(unread.filter((place) => !inNoRecord.test(place))).toEqual([]);
  });

  it('is kept from every field: one that takes no free text has a value of its own in the walk', async () => {
    const planted = await plantBelongings(api);

    for (const endpoint of table) {
      const formed = formedFields(endpoint, planted);
      const bare = endpoint.body
        ? fieldsOfAForm(endpoint.body).filter((field) => !formed.includes(field.split('.')[0] ?? ''))
        : [];
      expect([endpoint.id, bare]).toEqual([endpoint.id, []]);
    }
  });

  it('every endpoint that names a record declares its response to other tenants, or that it belongs to the installation', () => {
    const named = table.filter(({ path }) => path.includes(':'));

    expect(named.filter(({ otherTenant, owner }) => !otherTenant && !owner).map(({ id }) => id)).toEqual([]);
  });

  it('is not the tenant itself, which reads all of it', async () => {
    const { done, failed, artifact, canaries: texts } = await plantBelongings(api);
    const text = (place: string) => texts.find((one) => one.place === place)?.text ?? '';

    const [detail, letters, stored, memory] = await Promise.all([
      api.as('admin').get(`/api/v1/jobs/${done}`),
      api.as('admin').get('/api/v1/dlq'),
      api.as('admin').get(`/api/v1/artifacts/${encodeURIComponent(artifact)}`),
      api.as('admin').get(`/api/v1/memory?key=mem:${done}`),
    ]);

    expect(detail.body).toMatchObject({
      labels: { [text('job label key')]: text('job label') },
      result: { reply: text('job result') },
    });
    expect(JSON.stringify(letters.body)).toContain(failed);
    const content = Buffer.from(String(stored.body['content_base64']), 'base64').toString();
    expect(content).toBe(text('artifacts.put content'));
    expect(memory.body['json']).toEqual({ redis_type: 'string', value: text('memory') });
  });

  it('a credential for every tenant acts for the one it names, and reads any record when it names none', async () => {
    const done = await api.given.job({ state: 'SUCCEEDED' });
    const everywhere = api.as('everywhere');

    const named = await everywhere.get(`/api/v1/jobs/${done}`, { 'X-Tenant-ID': 'globex' });
    const unnamed = await everywhere.get(`/api/v1/jobs/${done}`);

    expect(named).toMatchObject({ status: 403, body: { code: 'tenant_access_denied' } });
    expect(unnamed).toMatchObject({ status: 200, body: { id: done } });
  });

  it('403: a query or body that names another tenant', async () => {
    const listed = await api.as('admin').get('/api/v1/jobs?tenant=globex');
    const submitted = await api.as('admin').post('/api/v1/jobs', { prompt: 'x', org_id: 'globex' });

    expect(listed).toMatchObject({ status: 403, body: { code: 'tenant_access_denied' } });
    expect(submitted).toMatchObject({ status: 403, body: { code: 'tenant_access_denied' } });
  });
});

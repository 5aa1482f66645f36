import { readOutbox } from '@svc/audit-chain';
import { sessionCookieName, signInTries } from '@svc/identity';
import request from 'supertest';
import { apiKeys, ownForm, useAdminSite } from './admin.testing';
import { isOwnForm } from './own-form';
import { ownPage } from './sign-in';

const getCookie = (answer: request.Response): string => {
  const [line = ''] = answer.get('Set-Cookie') ?? [];
  return line;
};
const getSession = (answer: request.Response): string => getCookie(answer).split(';', 1)[0] ?? '';

describe('signing in', () => {
  const site = useAdminSite();
  const send = (fields: Record<string, string>, headers: Record<string, string> = ownForm(site)) =>
    request(site.url).post('/admin/login').set(headers).type('form').send(fields);
  const queues = (cookie: string) => request(site.url).get('/admin/queues/api/queues').set('Cookie', cookie);
  const storedText = async () => {
    const names = await site.redis.keys('session:*');
    return JSON.stringify([names, ...(await Promise.all(names.map((name) => site.redis.hgetall(name))))]);
  };

  it('uses a page without script, whose policy blocks all scripts', async () => {
    const page = await request(site.url).get('/admin/login');

    expect(page.status).toBe(200);
    expect(page.text).not.toContain('<script');
    expect(page.get('Content-Security-Policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; form-action 'self'/,
    );
    expect(page.get('Cache-Control')).toBe('no-store');
    // Otherwise browsers would not send the origin of the form.
    expect(page.get('Referrer-Policy')).toBe('same-origin');
  });

  it('303: an admin key opens a session, in an HttpOnly and SameSite cookie', async () => {
    const answer = await send({ api_key: ` "${apiKeys.admin}" ` });

    expect([answer.status, answer.get('Location')]).toEqual([303, '/admin/queues']);
    expect(getCookie(answer)).toMatch(
      /^svc_session=session-[\w-]{43}; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Lax$/,
    );
    expect((await queues(getSession(answer))).status).toBe(200);
    const token = getSession(answer).slice(sessionCookieName.length + 1);
    for (const secret of [token, apiKeys.admin]) expect(await storedText()).not.toContain(secret);
  });

  it('signing in and out are events of the caller’s tenant, without the token; a refused key is reported', async () => {
    const first = await send({ api_key: apiKeys.everywhere, tenant: 'globex' });
    await request(site.url).post('/admin/logout').set(ownForm(site)).set('Cookie', getSession(first));
    await request(site.url).post('/admin/logout').set(ownForm(site)).set('Cookie', getSession(first));
    await send({ api_key: 'a-key-that-was-guessed' });

    const lines = (await site.store.audit.outbox(10)).flatMap(({ lines: text }) => readOutbox(text));
    expect(lines).toEqual([
      expect.objectContaining({
        tenant_id: 'globex',
        event_type: 'system.auth',
        action: 'auth.sign_in',
        identity: 'eve',
        extra: expect.objectContaining({
          auth_method: 'api_key',
          source_ip: '127.0.0.1',
          path: '/admin/login',
        }) as object,
      }),
      expect.objectContaining({ tenant_id: 'globex', action: 'auth.sign_out', identity: 'eve' }),
    ]);
    const token = getSession(first).slice(sessionCookieName.length + 1);
    for (const secret of [token, apiKeys.everywhere]) expect(JSON.stringify(lines)).not.toContain(secret);
    expect(site.refused).toEqual([
      expect.objectContaining({ code: 'auth_invalid_credentials', credential: 'api_key', path: '/admin/login' }),
    ]);
  });

  it('303: a key of several tenants acts for the named tenant', async () => {
    const answer = await send({ api_key: apiKeys.everywhere, tenant: 'globex' });

    expect(answer.status).toBe(303);
    expect(await storedText()).toContain('globex');
  });

  it('401: the same response to every failure, without the key', async () => {
    const session = getSession(await send({ api_key: apiKeys.admin })).slice(sessionCookieName.length + 1);

    const wrong = [
      await send({ api_key: 'no-such-key' }),
      await send({ api_key: apiKeys.viewer }),
      await send({ api_key: apiKeys.admin, tenant: 'globex' }),
      await send({ api_key: apiKeys.admin, tenant: '*' }),
      await send({ api_key: session }),
      await send({ api_key: '' }),
      await send({}),
    ];
    const pages = wrong.map(({ text }) => text.replace(/value="[^"]*"/g, ''));

    expect(wrong.map(({ status }) => status)).toEqual(wrong.map(() => 401));
    expect(pages).toEqual(pages.map(() => pages[0]));
    expect(pages[0]).toContain('role="alert"');
    expect(wrong.map(getCookie)).toEqual(wrong.map(() => ''));
  });

  it('401: submitted values are escaped', async () => {
    const answer = await send({ api_key: 'no-such-key', tenant: '"><script>alert(1)</script>' });

    expect(answer.text).not.toContain('<script');
    expect(answer.text).toContain('&quot;&gt;&lt;script&gt;');
  });

  it('429: too many attempts from one address, also with the right key', async () => {
    for (let i = 0; i < signInTries; i++) expect((await send({ api_key: `guess-${i}` })).status).toBe(401);

    const answer = await send({ api_key: apiKeys.admin });

    expect(answer.status).toBe(429);
    expect(Number(answer.get('Retry-After'))).toBeGreaterThan(0);
    expect(answer.text).toContain('Too many tries');
    expect(getCookie(answer)).toBe('');
  });

  it('checks no more concurrent attempts than the limit', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => send({ api_key: `guess-${i}` })));

    expect(answers.filter(({ status }) => status === 401)).toHaveLength(signInTries);
  });

  it('a success resets the attempts of an address', async () => {
    for (let i = 1; i < signInTries; i++) await send({ api_key: 'guess' });

    expect((await send({ api_key: apiKeys.admin })).status).toBe(303);

    expect((await send({ api_key: 'guess' })).status).toBe(401);
  });

  it('403: a form of another site neither signs in nor counts as an attempt', async () => {
    const foreign = [
      { Origin: 'https://evil.example' },
      { Origin: 'http://127.0.0.1:1' },
      { Origin: 'null' },
      { Origin: site.url, 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      {},
    ];
    for (let i = 0; i < signInTries; i++) {
      for (const headers of foreign) {
        const answer = await send({ api_key: apiKeys.admin }, headers as Record<string, string>);
        expect([headers, answer.status, getCookie(answer)]).toEqual([headers, 403, '']);
      }
    }

    expect((await send({ api_key: apiKeys.admin })).status).toBe(303);
  });

  it('ends the previous session of the browser', async () => {
    const planted = getSession(await send({ api_key: apiKeys.everywhere }));

    const own = await send({ api_key: apiKeys.admin }, { ...ownForm(site), Cookie: planted });

    expect(getSession(own)).not.toBe(planted);
    expect((await queues(planted)).status).toBe(401);
  });

  it('400, 413: an invalid form', async () => {
    expect((await send({ api_key: 'x'.repeat(20_000) })).status).toBe(413);
    const answer = await request(site.url)
      .post('/admin/login')
      .set({ Origin: site.url, 'Content-Type': 'application/x-www-form-urlencoded; charset=klingon' })
      .send('api_key=x');
    expect(answer.status).toBe(400);
    expect(site.defects).toEqual([]);
  });

  it('redirects to the requested page, and to no other host', async () => {
    const asked = await request(site.url).get('/admin/jobs/j1').set('Accept', 'text/html');
    expect([asked.status, asked.get('Location')]).toEqual([303, '/admin/login?next=%2Fadmin%2Fjobs%2Fj1']);
    expect((await request(site.url).get(String(asked.get('Location')))).text).toContain('value="/admin/jobs/j1"');

    const there = await send({ api_key: apiKeys.admin, next: '/admin/jobs/j1' });
    const astray = await send({ api_key: apiKeys.admin, next: '//evil.example/admin/jobs/j1' });

    expect([there.get('Location'), astray.get('Location')]).toEqual(['/admin/jobs/j1', '/admin/queues']);
  });

  it('401: two session cookies, one of them planted by a neighbouring site', async () => {
    const own = getSession(await send({ api_key: apiKeys.admin }));
    const planted = getSession(await send({ api_key: apiKeys.everywhere }));

    expect((await queues(`${planted}; ${own}`)).status).toBe(401);
    expect((await queues(`${own}; ${planted}`)).status).toBe(401);
    expect((await queues(`a=b; ${own}; c=d`)).status).toBe(200);
  });

  it('signing out ends the sessions of all sent cookies', async () => {
    const [own, other] = [getSession(await send({ api_key: apiKeys.admin })), getSession(await send({ api_key: apiKeys.other }))];

    await request(site.url)
      .post('/admin/logout')
      .set({ ...ownForm(site), Cookie: `${own}; ${other}` });

    expect([(await queues(own)).status, (await queues(other)).status]).toEqual([401, 401]);
  }); // prettier-ignore

  describe('signing out', () => {
    it('ends the session on the server and clears the cookie', async () => {
      const session = getSession(await send({ api_key: apiKeys.admin }));

      const answer = await request(site.url)
        .post('/admin/logout')
        .set({ ...ownForm(site), Cookie: session });

      expect([answer.status, answer.get('Location')]).toEqual([303, '/admin/login']);
      expect(getCookie(answer)).toMatch(/^svc_session=; Path=\/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly/);
      expect((await queues(session)).status).toBe(401);
    });

    it('403: requests of another site, and links', async () => {
      const session = getSession(await send({ api_key: apiKeys.admin }));
      const out = (headers: object) =>
        request(site.url)
          .post('/admin/logout')
          .set({ ...headers, Cookie: session });

      for (const Origin of ['https://evil.example', 'http://127.0.0.1:1'])
        expect((await out({ Origin })).status).toBe(403);
      expect((await request(site.url).get('/admin/logout').set('Cookie', session)).text).toContain('<form');

      expect((await queues(session)).status).toBe(200);
    });
  });
});

describe('signing in behind a trusted proxy', () => {
  const site = useAdminSite({ trustedProxies: ['127.0.0.1'] });
  const send = (client: string, apiKey: string) =>
    request(site.url)
      .post('/admin/login')
      .set({ ...ownForm(site), 'X-Forwarded-For': client })
      .type('form')
      .send({ api_key: apiKey });

  it('429: attempts of one client do not block others, whatever address it claims', async () => {
    for (let i = 0; i < signInTries; i++) {
      expect((await send(`203.0.113.${i}, 198.51.100.1`, `guess-${i}`)).status).toBe(401);
    }

    expect((await send('198.51.100.1', apiKeys.admin)).status).toBe(429);
    expect((await send('198.51.100.2', apiKeys.admin)).status).toBe(303);
  });

  it('429: addresses of one IPv6 network count as one', async () => {
    for (let i = 0; i < signInTries; i++) {
      expect((await send(`2001:db8:0:1::${i}`, `guess-${i}`)).status).toBe(401);
    }

    expect((await send('2001:db8:0:1:ffff::1', apiKeys.admin)).status).toBe(429);
    expect((await send('2001:db8:0:2::1', apiKeys.admin)).status).toBe(303);
  });

  it('429: attempts with one key from many addresses; other keys are not affected', async () => {
    for (let i = 0; i < signInTries; i++) expect((await send(`203.0.113.${i}`, apiKeys.viewer)).status).toBe(401);

    expect((await send('203.0.113.99', apiKeys.viewer)).status).toBe(429);
    expect((await send('203.0.113.99', apiKeys.admin)).status).toBe(303);
  });
});

describe('signing in without a trusted proxy', () => {
  const site = useAdminSite();

  it('429: an address header set by the client is ignored', async () => {
    const send = (i: number) =>
      request(site.url)
        .post('/admin/login')
        .set({ ...ownForm(site), 'X-Forwarded-For': `203.0.113.${i}` })
        .type('form')
        .send({ api_key: `guess-${i}` });
    for (let i = 0; i < signInTries; i++) expect((await send(i)).status).toBe(401);

    expect((await send(99)).status).toBe(429);
  });
});

describe('signing in to production', () => {
  const site = useAdminSite({ production: true });

  it('sets a Secure cookie', async () => {
    const answer = await request(site.url)
      .post('/admin/login')
      .set(ownForm(site))
      .type('form')
      .send({ api_key: apiKeys.admin });

    expect(getCookie(answer)).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
  });
});

describe('a form', () => {
  it.each([
    ['same-origin', undefined, true],
    ['same-origin', 'null', true],
    ['cross-site', 'http://site.example', false],
    ['none', undefined, false],
    [undefined, 'http://site.example', true],
    [undefined, 'https://site.example:8443', false],
    [undefined, 'null', false],
    [undefined, 'not a url', false],
    [undefined, undefined, false],
  ])('with Sec-Fetch-Site %s and Origin %s is accepted: %s', (site, origin, own) => {
    const headers = { host: 'Site.example', 'sec-fetch-site': site, origin };

    expect(isOwnForm({ headers } as unknown as Parameters<typeof isOwnForm>[0])).toBe(own);
  });
});

describe('a redirect target', () => {
  it.each(['/admin/queues', '/admin/queues/queue/jobs-held', '/admin/jobs/a%3Ab'])('may be %s', (path) => {
    expect(ownPage(path)).toBe(path);
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example/admin/jobs/1', '/admin/queues//evil.example', '/admin/logout', '/admin/queues?x=1', '/admin/jobs/a\r\nSet-Cookie: a=b', '', undefined, ['/admin/queues']])(
    'may not be %s', (path) => {
    expect(ownPage(path)).toBeUndefined();
  }); // prettier-ignore
});

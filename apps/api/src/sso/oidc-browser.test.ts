import type { Browser } from 'playwright-core';
import { openBrowser } from '../admin/browser.testing';
import { publicOrigin, useOidc } from './oidc.testing';

/** The steps of docs/guides/sso.md. */
describe('signing in with OpenID Connect in a browser', () => {
  const host = new URL(publicOrigin).host;
  const mapping = '{"platform":"admin","support":"operator"}';
  const world = useOidc({ SVC_OIDC_GROUP_ROLE_MAPPING: mapping, SVC_ALLOWED_HOSTS: host }, { admin: true });
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser({ [host]: new URL(world.api.url).host });
  }, 60_000);
  afterAll(() => browser.close());

  /** From the sign-in page of the admin pages to the page after the sign-in. */
  const signIn = async (name: string) => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${publicOrigin}/admin`);
    await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await page.getByPlaceholder('Enter any login').fill(name);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${publicOrigin}/admin/queues**`);
    return page;
  };

  it('a group makes alice an admin, who reads the queues, signs out here and at the provider, and is asked again', async () => {
    const page = await signIn('alice');
    await page.getByText('Waiting for a worker').first().waitFor();
    expect(new URL(page.url()).hash).toContain('role=admin');

    await page.goto(`${publicOrigin}/admin/logout`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${publicOrigin}/api/v1/auth/sso/oidc/logout?redirect=/admin/queues`);
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await page.getByPlaceholder('Enter any login').waitFor();
  }, 60_000);

  it('an operator is signed in but has no access to the admin pages', async () => {
    const page = await signIn('bob');

    await page.getByText('Your role does not permit this page').waitFor();
    expect(new URL(page.url()).hash).toContain('role=operator');
  }, 60_000);
});

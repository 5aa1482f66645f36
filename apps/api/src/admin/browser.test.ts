import { queues } from '@svc/queues.config';
import type { Browser, Page } from 'playwright-core';
import { apiKeys, useAdminSite } from './admin.testing';
import { openBrowser } from './browser.testing';
import { givenJobs } from './jobs.testing';

describe('in a browser', () => {
  const site = useAdminSite();
  let browser: Browser;
  let page: Page;
  /** Console errors, and requests to addresses outside the site. */
  let complaints: string[];

  beforeAll(async () => {
    browser = await openBrowser();
  }, 60_000);
  afterAll(() => browser.close());
  beforeEach(async () => {
    complaints = [];
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.on('page', (opened) => watch(opened));
    page = await context.newPage();
  });
  afterEach(() => page.context().close());

  const watch = (opened: Page) => {
    opened.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
    });
    opened.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
    opened.on('request', (request) => {
      const local = request.url().startsWith(site.url) || request.url().startsWith('data:');
      if (!local) complaints.push(`asked for ${request.url()}`);
    });
  };
  const picture = async (name: string, of: Page = page) => {
    const folder = process.env['SVC_PICTURES'];
    if (folder) await of.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };
  const signIn = async () => {
    await page.getByLabel('API key').fill(apiKeys.admin);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it('an admin signs in, finds jobs in their queues, and opens the page of one', async () => {
    const given = givenJobs(site.store);
    await given.waiting('job-that-waits', { topic: 'job.translate' });
    await given.held('job-that-is-held', { topic: 'job.payout' });
    await given.inFlight('job-in-flight', { topic: 'job.summarize' });
    await given.failed('job-that-failed', { topic: 'job.classify', reason: 'out of memory' });

    await page.goto(`${site.url}/admin`);
    await picture('sign-in');
    await signIn();

    for (const { title } of Object.values(queues)) await page.getByText(title, { exact: true }).first().waitFor();
    await picture('queues');
    const found = async (queue: keyof typeof queues, topic: string) => {
      await page.goto(`${site.url}/admin/queues/queue/${queues[queue].name}`);
      await page.getByText(topic).first().waitFor();
      await picture(`queue-${queue}`);
    };
    await found('jobWaiting', 'job.translate');
    await found('jobApprovals', 'job.payout');
    await found('jobRunning', 'job.summarize');
    await found('deadLetters', 'job.classify');
    await page.getByText('out of memory').first().waitFor();

    const opening = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Open job job-that-failed' }).first().click();
    const job = await opening;
    await job.getByRole('heading', { name: 'job.classify' }).waitFor();
    await picture('job', job);
    expect(await job.locator('main').innerText()).toContain('out of memory');
    expect(complaints).toEqual([]);
  }, 60_000);

  it('hostile text of a job does not execute, a wrong key shows an error, and signing out returns to the sign-in page', async () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    await givenJobs(site.store).held('j', {
      topic: hostile,
      prompt: hostile,
      request: { labels: { [hostile]: hostile } },
    });
    page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));

    await page.goto(`${site.url}/admin/jobs/j`);
    await page.getByLabel('API key').fill('no-such-key');
    await page.getByLabel('API key').press('Enter');
    await page.getByRole('alert').waitFor();
    await picture('sign-in-refused');
    // The browser also reports the status of the page itself, which is expected.
    expect(complaints.splice(0).filter((text) => !text.includes('401'))).toEqual([]);
    await signIn();

    await page.getByRole('heading', { name: hostile }).waitFor();
    await picture('job-hostile');
    expect(await page.locator('script, img').count()).toBe(0);
    await page.goto(`${site.url}/admin/queues/queue/${queues.jobApprovals.name}`);
    await page.getByText(hostile).first().waitFor();
    await page.goto(`${site.url}/admin/jobs/j`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  it('the API viewer shows the operations', async () => {
    await page.goto(`${site.url}/swagger/`);

    await page.getByText('Cancel a job that has not ended').waitFor();
    await picture('swagger');
    expect(complaints).toEqual([]);
  }, 60_000);
});

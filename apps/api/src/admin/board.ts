import { createBullBoard } from '@bull-board/api';
import { AppError } from '@svc/contract';
import { openQueue, type AnyQueueSpec } from '@svc/queues';
import type { Store } from '@svc/store';
import express, { type RequestHandler, type Router } from 'express';
import { jobIdOf, jobPath } from './entry-view';
import { LocalBoard } from './local-board';
import { TenantQueue, type Viewer } from './tenant-queue';

export const boardPath = '/admin/queues';

/** Bull Board's own files; it sets styles from script, and the settings in its page are data, which needs no allowance. */
const boardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'self'",
  "form-action 'none'",
].join('; ');

const systemFonts = { 'font-sans': 'system-ui, sans-serif', 'font-mono': 'ui-monospace, monospace' };

export interface Board {
  /** To be mounted at `boardPath`, behind the gate. */
  router: Router;
  close(): Promise<void>;
}

/**
 * Bull Board over every queue of the table, for looking only. Its buttons act on queue entries and know nothing of the jobs
 * those carry, so no queue's are safe to press:
 *
 * - jobs: removing or emptying strands accepted jobs; promoting ends a throttle that policy imposed; editing the data
 *   makes an entry carry another job.
 * - jobs-waiting, jobs-in-flight: promoting or removing takes away the timer that ends a job which waits or runs too long.
 * - jobs-held: the same, and it looks like an approval, which needs a person, a reason and a record: POST
 *   /api/v1/approvals/{id}/approve.
 * - output-scan: removing a scan leaves an output released that nobody looked at; failed ones are of a defect, and
 *   retrying cannot be had without the other buttons.
 * - workflow-runs, workflow-steps: a picture of runs, whose truth is elsewhere. workflow-passes: removing one stops its run
 *   until it is mended. workflow-timers: promoting changes nothing, removing leaves the timer to the loop that polls.
 * - dead-letters: nothing consumes them, so a retried entry would wait for ever, and the job must be decided afresh by
 *   policy: POST /api/v1/dlq/{id}/retry.
 *
 * Pausing is refused too: it would stop all tenants. Each adapter is read-only, and besides no method but GET passes.
 *
 * @param viewer whose request is being served, so that entries of other tenants are not shown
 */
export function openBoard(store: Store, queues: Readonly<Record<string, AnyQueueSpec>>, viewer: () => Viewer): Board {
  // Of its own: BullMQ gives its connection commands that every pipeline of the store's would copy, at each request.
  const redis = store.redis.duplicate({ enableAutoPipelining: false });
  // The store's own connection tells of a store that is away.
  redis.on('error', () => undefined);
  const opened = Object.values(queues).map((spec) => ({ spec, queue: openQueue(spec, redis) }));
  const pages = new LocalBoard();
  pages.setBasePath(boardPath);
  createBullBoard({
    queues: opened.map(({ spec, queue }) => new TenantQueue(queue, adapterOptions(spec), store, viewer)),
    serverAdapter: pages,
    options: {
      uiConfig: {
        boardTitle: 'Queues',
        hideDocsLink: true,
        sortQueues: false,
        // Asking for workers lists every connection of the store at each look; `/api/v1/status` tells who is there.
        showWorkers: false,
        theme: { light: systemFonts, dark: systemFonts },
        miscLinks: [
          { text: 'API documentation', url: '/swagger/' },
          { text: 'Sign out', url: '/admin/logout' },
        ],
      },
    },
  });
  const router = express.Router();
  router.use(onlyReading, boardHeaders, pages.pages());
  const close = async () => {
    await Promise.all(opened.map(({ queue }) => queue.close()));
    redis.disconnect();
  };
  return { router, close };
}

const adapterOptions = ({ title, purpose }: AnyQueueSpec) => ({
  readOnlyMode: true,
  displayName: title,
  description: purpose,
  externalJobUrl: ({ data }: { data: unknown }) => {
    const id = jobIdOf(data);
    return id === undefined ? { displayText: '', href: '' } : { displayText: `Open job ${id}`, href: jobPath(id) };
  },
});

const onlyReading: RequestHandler = ({ method }, _res, next) =>
  next(method === 'GET' || method === 'HEAD' ? undefined : new AppError('method_not_allowed', {}, { Allow: 'GET' }));

const boardHeaders: RequestHandler = (req, res, next) => {
  res.setHeader('Content-Security-Policy', boardPolicy);
  // The board's own files hold nothing of a tenant, and there are many of them.
  if (req.path.startsWith('/static/')) res.setHeader('Cache-Control', 'private, max-age=3600');
  next();
};

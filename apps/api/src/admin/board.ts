import { createBullBoard } from '@bull-board/api';
import { AppError } from '@svc/contract';
import { openQueue, type AnyQueueSpec } from '@svc/queues';
import type { Store } from '@svc/store';
import express, { type RequestHandler, type Router } from 'express';
import { getJobId, jobPath } from './entry-view';
import { LocalBoard } from './local-board';
import { TenantQueue, type Viewer } from './tenant-queue';

export const boardPath = '/admin/queues';

/** Allows Bull Board's own files only. It sets styles from script; the settings in its page are data and need no exception. */
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
  /** Must be mounted at `boardPath`, behind authorization. */
  router: Router;
  close(): Promise<void>;
}

/**
 * Bull Board over every queue of the table, read-only. Its buttons act on queue entries without regard to the jobs, so
 * they are unsafe for every queue:
 *
 * - jobs: removing or emptying strands accepted jobs; promoting ends a throttle that policy imposed; editing the data
 *   changes the job of the entry.
 * - jobs-waiting, jobs-in-flight: promoting or removing disables the timeout of the job.
 * - jobs-held: the same; promoting also resembles an approval, which requires an approver, a reason and a record: POST
 *   /api/v1/approvals/{id}/approve.
 * - output-scan: removing a scan leaves an unscanned output released; failed scans indicate a defect, and the retry button
 *   cannot be enabled without the other buttons.
 * - workflow-runs, workflow-steps: a view of runs, which are stored elsewhere. workflow-passes: removing one stops its run
 *   until the repair loop. workflow-timers: promoting is a no-op, removing leaves the timer to the polling loop.
 * - dead-letters: nothing consumes them, so a retried entry would wait forever, and the job needs a new policy decision:
 *   POST /api/v1/dlq/{id}/retry.
 *
 * Pausing is rejected too: it would stop all tenants. Each adapter is read-only, and only GET requests pass.
 *
 * @param viewer the caller of the current request, used to hide entries of other tenants
 */
export function openBoard(store: Store, queues: Readonly<Record<string, AnyQueueSpec>>, viewer: () => Viewer): Board {
  // A separate connection: BullMQ defines commands on it, which every pipeline on the store's connection would copy.
  const redis = store.redis.duplicate({ enableAutoPipelining: false });
  // The store's own connection reports an unavailable store.
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
        // Listing workers would list every connection of the store at each poll; `/api/v1/status` reports the processes.
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
    const id = getJobId(data);
    return id === undefined ? { displayText: '', href: '' } : { displayText: `Open job ${id}`, href: jobPath(id) };
  },
});

const onlyReading: RequestHandler = ({ method }, _res, next) =>
  next(method === 'GET' || method === 'HEAD' ? undefined : new AppError('method_not_allowed', {}, { Allow: 'GET' }));

const boardHeaders: RequestHandler = (req, res, next) => {
  res.setHeader('Content-Security-Policy', boardPolicy);
  // The board's many static files contain no tenant data.
  if (req.path.startsWith('/static/')) res.setHeader('Cache-Control', 'private, max-age=3600');
  next();
};

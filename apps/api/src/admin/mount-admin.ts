import { AppError, managedScope, type Caller } from '@svc/contract';
import type { MountOptions } from '@svc/http';
import { queues } from '@svc/queues.config';
import type { ApiEnv, Boot } from '@svc/runtime';
import type { Store } from '@svc/store';
import type { UserDeps } from '@svc/users';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Express } from 'express';
import { admit } from './admit';
import { boardPath, openBoard } from './board';
import type { AdminDeps } from './deps';
import { failurePages } from './failure-pages';
import { jobFacts } from './job-facts';
import { jobPage } from './job-page';
import { sendPage } from './page';
import { signIn } from './sign-in';

export interface AdminParts {
  store: Store;
  users: UserDeps;
  /** Authentication, authorization and limits of the REST surface. */
  surface: MountOptions;
}

/**
 * Mounts the admin pages: sign-in, Bull Board at `/admin/queues`, and one page per job. All pages except sign-in require an
 * administrator, authenticated by session cookie or API credentials.
 */
export function mountAdmin(
  app: Express,
  { env, onStop }: Pick<Boot<Pick<ApiEnv, 'production' | 'defaultTenant'>>, 'env' | 'onStop'>,
  { store, users, surface }: AdminParts,
): void {
  const deps: AdminDeps = { store, users, surface, secureCookies: env.production };
  const viewing = new AsyncLocalStorage<Caller>();
  const board = openBoard(store, queues, () => {
    const caller = viewing.getStore();
    // The board runs inside requests only. '' matches no tenant, so a missing context shows no entries.
    return caller
      ? { scope: caller.scope, manages: managedScope(caller, env.defaultTenant) }
      : { scope: '', manages: '' };
  });
  onStop('bull board', () => board.close());

  app.get('/admin', (_req, res) => res.redirect(303, boardPath));
  app.use('/admin', signIn(deps));
  app.use(boardPath, async (req, res, next) => {
    const caller = await admit(req, deps);
    viewing.run(caller, () => board.router(req, res, next));
  });
  app.get('/admin/jobs/:id', async (req, res) => {
    const caller = await admit(req, deps);
    sendPage(res, 200, jobPage(await jobFacts(store, caller.scope, req.params.id), toViewer(caller)));
  });
  app.use('/admin', () => {
    throw new AppError('not_found');
  });
  app.use('/admin', failurePages(deps));
}

const toViewer = ({ keyName, principalId, tenant, scope }: Caller) => ({
  name: principalId || keyName,
  tenant: scope === '*' ? 'all tenants' : tenant,
});

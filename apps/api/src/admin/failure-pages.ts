import { AppError } from '@svc/contract';
import type { ErrorRequestHandler, Request } from 'express';
import type { AdminDeps } from './deps';
import { html } from './html';
import { sendPage } from './page';
import { ownPage } from './sign-in';

/** Whether the client is a browser that expects a page. */
const isForEyes = (req: Request): boolean => /\btext\/html\b/.test(req.headers.accept ?? '');

const advice: Readonly<Record<number, string>> = {
  403: 'Your role does not permit this page. Sign out, then sign in as an administrator.',
  404: 'Nothing of that name is here. Records of ended jobs are kept for some days only.',
  503: 'The store does not answer. Try again in a moment.',
};

/** Renders errors as pages for browsers and as REST errors for programs. Redirects browsers that are not signed in. */
export const failurePages =
  ({ surface }: AdminDeps): ErrorRequestHandler =>
  (error: unknown, req, res, next) => {
    const outcome = error instanceof AppError ? error : surface.asAppError?.(error);
    if (!outcome || !isForEyes(req) || res.headersSent) return next(error);
    const { status, error: text } = outcome.toBody();
    if (status === 401) {
      const back = ownPage(req.originalUrl);
      return res.redirect(303, `/admin/login${back ? `?next=${encodeURIComponent(back)}` : ''}`);
    }
    for (const [name, value] of Object.entries(outcome.headers)) res.setHeader(name, value);
    sendPage(res, status, {
      title: text,
      body: html`<main class="narrow"><h1>${status} · ${text}</h1><div class="card"><p>${advice[status]}</p>
<ul class="links"><li><a href="/admin/queues">Queues</a></li><li><a href="/admin/logout">Sign out</a></li></ul></div></main>`,
    }); // prettier-ignore
  };

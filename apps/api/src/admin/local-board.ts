import { ExpressAdapter } from '@bull-board/express';
import type { AppViewRoute } from '@bull-board/api/typings/app';
import type { Express, NextFunction, Request, Response } from 'express';

/** Bull Board's page asks another company's servers for its fonts; nobody there shall learn who looks at these queues. */
const remoteLinks = /<link\b[^<>]*\bhref="https?:[^<>]*>/g;

export const withoutRemoteLinks = (document: string): string => document.replace(remoteLinks, '');

/** Bull Board from this installation's files alone. */
export class LocalBoard extends ExpressAdapter {
  constructor() {
    super();
    this.app.set('x-powered-by', false);
    this.app.set('etag', false);
  }

  override setEntryRoute({ route, handler }: AppViewRoute): ExpressAdapter {
    this.app.get(route, (_req: Request, res: Response, next: NextFunction) => {
      const { name, params } = handler({ basePath: this.basePath, uiConfig: this.uiConfig });
      this.app.render(name, params, (error: unknown, document: string) =>
        error ? next(error) : res.type('html').send(withoutRemoteLinks(document)),
      );
    });
    return this;
  }

  /** The app to mount at the base path. */
  pages(): Express {
    return this.app;
  }
}

import { ExpressAdapter } from '@bull-board/express';
import type { AppViewRoute } from '@bull-board/api/typings/app';
import type { Express, NextFunction, Request, Response } from 'express';

/** Fonts that Bull Board would load from a third party, which would reveal its users. */
const remoteLinks = /<link\b[^<>]*\bhref="https?:[^<>]*>/g;

export const withoutRemoteLinks = (document: string): string => document.replace(remoteLinks, '');

/** Serves Bull Board from local files only. */
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

  /** The Express app to mount at the base path. */
  pages(): Express {
    return this.app;
  }
}

import type { Endpoint } from '@svc/contract';
import express, { type Express } from 'express';
import { crossOrigin, originCheck } from './cors';
import { exchangeOf } from './exchange';
import { failures, noRoute } from './failures';
import type { Route } from './handler';
import { baseHeaders, oneHost } from './headers';
import type { MountOptions } from './options';
import { serveEndpoint } from './serve-endpoint';

/** An app to which further pages can be added before `finish` closes it with the answers for unknown paths and failures. */
export interface Surface {
  app: Express;
  finish(): Express;
}

/**
 * Serves routes behind the gate. Routes are matched in the order given: put the busiest first.
 *
 * @throws Error when two routes share an id or a method and path
 */
export function mount<Ctx>(routes: readonly Route<Ctx>[], ctx: Ctx, options: MountOptions): Surface {
  refuseDoubles(routes.map(({ endpoint }) => endpoint));
  const app = express();
  app.set('etag', false);
  app.set('x-powered-by', false);
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.set('trust proxy', [...(options.trustedProxies ?? [])]);

  const allows = originCheck(options.allowedOrigins);
  if (options.onServed) app.use(reporting(options.onServed));
  app.use(baseHeaders(options.hstsMaxAgeSec), oneHost, crossOrigin(allows));
  for (const route of routes) {
    const { method, path } = route.endpoint;
    app[method](path, serveEndpoint(route, ctx, options, allows));
  }
  return {
    app,
    finish() {
      app.use(noRoute(methodsOf(routes.map(({ endpoint }) => endpoint))));
      app.use(failures(options));
      return app;
    },
  };
}

/** Tells the app about each request once its answer has left or its client has gone. */
function reporting(onServed: NonNullable<MountOptions['onServed']>): express.RequestHandler {
  return (req, res, next) => {
    const { method, path, ip = '' } = req;
    res.once('close', () => {
      const { endpoint, requestId, startedNs, tenant } = exchangeOf(req);
      const durationMs = Number(process.hrtime.bigint() - startedNs) / 1e6;
      // A client that left before its answer is counted as the status proxies use for that.
      const status = res.writableFinished ? res.statusCode : 499;
      onServed({ endpoint, method, path, status, durationMs, requestId, tenant, ip });
    });
    next();
  };
}

function refuseDoubles(endpoints: readonly Endpoint[]): void {
  const names = endpoints.flatMap(({ id, method, path }) => [id, `${method} ${path.replace(/:\w+/g, ':')}`]);
  const double = names.find((name, i) => names.indexOf(name) !== i);
  if (double) throw new Error(`two routes for ${double}`);
}

/** Which methods a path knows, for the Allow header. */
function methodsOf(endpoints: readonly Endpoint[]): (path: string) => string[] {
  const patterns = endpoints.map(({ method, path }) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}/?$`),
  }));
  return (path) => [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
}

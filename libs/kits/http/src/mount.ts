import type { Endpoint } from '@svc/contract';
import express, { type ErrorRequestHandler, type Express } from 'express';
import type { RequestListener } from 'node:http';
import { crossOrigin, originCheck } from './cors';
import { badPath, failures, noRoute } from './failures';
import { routeFinder } from './find-route';
import type { Route } from './handler';
import { baseHeaders, requireHost } from './headers';
import { incomingFrom, type Incoming } from './incoming';
import type { MountOptions } from './options';
import { serveEndpoint } from './serve-endpoint';
import { publicBucket, takeRate } from './take-rate';

/** An app that accepts pages until `finish` adds the handlers for unknown paths and failures. */
export interface Surface {
  /** Serves paths without a route. */
  app: Express;
  finish(): RequestListener;
}

/**
 * Serves guarded routes and pages, with the same headers, Host check and CORS rules.
 *
 * @throws Error when two routes share an id or a method and path
 */
export function mount<Ctx>(routes: readonly Route<Ctx>[], ctx: Ctx, options: MountOptions): Surface {
  refuseDoubles(routes.map(({ endpoint }) => endpoint));
  const allows = originCheck(options.allowedOrigins, { trustsLoopback: options.trustsLoopback ?? false });
  const find = routeFinder(
    routes.map((route) => {
      const { endpoint } = route;
      const target = { serve: serveEndpoint(route, ctx, options, allows), isCrossSite: endpoint.crossSite ?? false };
      return { endpoint, target };
    }),
  );
  const app = pages(options);
  const arrive = incomingFrom(options.trustedProxies ?? []);
  const setHeaders = baseHeaders(options.hstsMaxAgeSec);
  const allowOrigin = crossOrigin(allows);
  const fail = failures(options);

  /** Pages and unknown paths, which no route limits. */
  const serveOther = async ({ req, res, ip }: Incoming, isBadPath: boolean): Promise<void> => {
    if (options.rateLimits) await takeRate(res, options.rateLimits.open, publicBucket(ip));
    if (isBadPath) throw badPath();
    app(req, res);
  };

  const listener: RequestListener = (req, res) => {
    const incoming = arrive(req, res);
    setHeaders(incoming);
    if (options.onServed) report(incoming, options.onServed);
    try {
      requireHost(req, options.allowsHost);
      const found = find(req.method ?? 'GET', incoming.path);
      const isCrossSite = found.kind === 'route' && found.target.isCrossSite;
      if (!isCrossSite && allowOrigin(req, res)) return;
      const serving =
        found.kind === 'route'
          ? found.target.serve(incoming, found.params)
          : serveOther(incoming, found.kind === 'bad_path');
      serving.catch((error: unknown) => fail(error, req, res));
    } catch (error) {
      fail(error, req, res);
    }
  };
  return {
    app,
    finish() {
      app.use(noRoute(buildMethodLookup(routes.map(({ endpoint }) => endpoint))));
      // Express recognizes error handlers by their four parameters.
      const onError: ErrorRequestHandler = (error, req, res, _next) => fail(error, req, res);
      app.use(onError);
      return listener;
    },
  };
}

function pages({ trustedProxies = [] }: MountOptions): Express {
  const app = express();
  app.set('etag', false);
  app.set('x-powered-by', false);
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.set('trust proxy', [...trustedProxies]);
  return app;
}

/** Reports a request to the app when its response was sent or its client disconnected. */
function report({ req, res, exchange, path, ip }: Incoming, onServed: NonNullable<MountOptions['onServed']>): void {
  res.once('close', () => {
    const { endpoint, requestId, startedNs, tenant } = exchange;
    const durationMs = Number(process.hrtime.bigint() - startedNs) / 1e6;
    // A client that disconnected before its response counts as 499, as in proxies.
    const status = res.writableFinished ? res.statusCode : 499;
    onServed({ endpoint, method: req.method ?? '', path, status, durationMs, requestId, tenant, ip });
  });
}

function refuseDoubles(endpoints: readonly Endpoint[]): void {
  const names = endpoints.flatMap(({ id, method, path }) => [id, `${method} ${path.replace(/:\w+/g, ':')}`]);
  const double = names.find((name, i) => names.indexOf(name) !== i);
  if (double) throw new Error(`two routes for ${double}`);
}

/** Methods of a path, for the Allow header. */
function buildMethodLookup(endpoints: readonly Endpoint[]): (path: string) => string[] {
  const patterns = endpoints.map(({ method, path }) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}/?$`),
  }));
  return (path) => [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
}

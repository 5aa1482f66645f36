import type { Express, RequestHandler } from 'express';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import swaggerUi from 'swagger-ui-express';

/** The viewer's own files and the styles it sets from script; nothing from elsewhere, no inline script. */
const viewerPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The document and its viewer are the same for every caller. */
const cacheControl = 'public, max-age=300';

const viewerHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('Content-Security-Policy', viewerPolicy);
  res.setHeader('Cache-Control', cacheControl);
  next();
};

/**
 * Serves a large document serialized once: serializing it per request would block the event loop for milliseconds and
 * keep a copy per slow reader.
 */
function serveDocument(document: object): RequestHandler {
  const plain = Buffer.from(JSON.stringify(document));
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  const forms = {
    identity: { bytes: plain, tag: `"${hash}"` },
    gzip: { bytes: gzipSync(plain, { level: 9 }), tag: `"${hash}-gzip"` },
  };
  return (req, res) => {
    const encoding = req.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
    const { bytes, tag } = forms[encoding];
    res.vary('Accept-Encoding').vary('Origin');
    res.setHeader('Cache-Control', cacheControl);
    res.setHeader('ETag', tag);
    if (req.fresh) return void res.status(304).end();
    if (encoding === 'gzip') res.setHeader('Content-Encoding', encoding);
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.setHeader('Content-Length', bytes.length);
    res.end(bytes);
  };
}

/** The API document at `/swagger/openapi.json` and a viewer of it at `/swagger/`, all files from this installation. */
export function serveSwagger(app: Express, document: object): void {
  app.get('/swagger/openapi.json', serveDocument(document));
  const options = { swaggerOptions: { url: './openapi.json', validatorUrl: null, persistAuthorization: false } };
  const files = swaggerUi.serveFiles(undefined, options);
  app.use('/swagger', viewerHeaders, ...files, swaggerUi.setup(undefined, options));
}

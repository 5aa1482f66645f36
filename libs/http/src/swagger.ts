import type { Express, RequestHandler } from 'express';
import swaggerUi from 'swagger-ui-express';
import { sendJson } from './exchange';

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

const viewerHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('Content-Security-Policy', viewerPolicy);
  next();
};

/** The API document at `/swagger/openapi.json` and a viewer of it at `/swagger/`, all files from this installation. */
export function serveSwagger(app: Express, document: object): void {
  app.get('/swagger/openapi.json', (_req, res) => sendJson(res, 200, document));
  const options = { swaggerOptions: { url: './openapi.json', validatorUrl: null, persistAuthorization: false } };
  const files = swaggerUi.serveFiles(undefined, options);
  app.use('/swagger', viewerHeaders, ...files, swaggerUi.setup(undefined, options));
}

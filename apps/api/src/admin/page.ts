import type { Response } from 'express';
import { createHash } from 'node:crypto';
import { html, Html } from './html';
import { pageStyle } from './page-style';

export interface Page {
  title: string;
  body: Html;
  /** The signed-in caller; absent on public pages. */
  viewer?: { name: string; tenant: string };
}

const styleDigest = createHash('sha256').update(pageStyle).digest('base64');

/** Allows no script and only the style with this digest, so that injected job text cannot execute. */
const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleDigest}'`,
  'img-src data:',
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Crect width='8' height='8' rx='2' fill='%232257c4'/%3E%3C/svg%3E";

/** Sends a page that executes no script and loads no resources. */
export function sendPage(res: Response, status: number, page: Page): void {
  res.setHeader('Content-Security-Policy', pagePolicy);
  // With `no-referrer`, browsers send `Origin: null` with our own forms, which the origin check would reject.
  res.setHeader('Referrer-Policy', 'same-origin');
  res.status(status).type('html').send(renderDocument(page).text);
}

const renderDocument = ({ title, body, viewer }: Page): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Control plane</title>
<link rel="icon" href="${new Html(icon)}">
<style>${new Html(pageStyle)}</style>
</head>
<body>
${viewer && renderHeader(viewer)}
${body}
</body>
</html>
`; // prettier-ignore

const renderHeader = ({ name, tenant }: NonNullable<Page['viewer']>): Html => html`<header>
<strong>Control plane</strong>
<nav aria-label="Pages"><a href="/admin/queues">Queues</a> · <a href="/swagger/">API</a></nav>
<span class="soft">${name} · ${tenant}</span>
<form method="post" action="/admin/logout"><button>Sign out</button></form>
</header>`; // prettier-ignore

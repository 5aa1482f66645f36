import { createHash } from 'node:crypto';

const script = 'document.forms[0].submit();';
const scriptDigest = createHash('sha256').update(script).digest('base64');

/** A page that posts fields to a URL, at once or, without scripts, by its button. */
export function postForm(url: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sign in</title></head>
<body>
<form method="post" action="${escape(url)}">
${inputs.join('\n')}
<button>Continue to sign in</button>
</form>
<script>${script}</script>
</body>
</html>
`;
}

/** Permits that script and forms to that URL, and nothing else. */
export function postFormPolicy(url: string): string {
  const { origin, pathname } = new URL(url);
  // `;` and `,` separate directives and policies.
  const target = `${origin}${pathname}`.replace(/;/g, '%3B').replace(/,/g, '%2C');
  return [
    "default-src 'none'",
    `script-src 'sha256-${scriptDigest}'`,
    `form-action ${target}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

const escape = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

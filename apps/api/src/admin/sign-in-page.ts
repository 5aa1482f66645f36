import { html } from './html';
import type { Page } from './page';

export interface SignInView {
  /** Why the last attempt failed. */
  problem?: string;
  tenant?: string;
  /** Admin page to open after signing in. */
  next?: string;
}

/** The page never contains the submitted key. */
export const signInPage = ({ problem, tenant, next }: SignInView): Page => ({
  title: 'Sign in',
  body: html`<main class="narrow">
<h1>Sign in</h1>
<p class="soft">Queues and jobs, for administrators.</p>
${problem && html`<div class="card notice bad" role="alert" id="problem">${problem}</div>`}
<form class="card" method="post" action="/admin/login">
<label for="api_key">API key</label>
<input id="api_key" name="api_key" type="password" autocomplete="current-password" required autofocus
  ${problem && html`aria-invalid="true" aria-describedby="problem"`}>
<label for="tenant">Tenant <span>(only for keys of several tenants)</span></label>
<input id="tenant" name="tenant" autocomplete="organization" spellcheck="false" value="${tenant}">
${next && html`<input type="hidden" name="next" value="${next}">`}
<button>Sign in</button>
</form>
<p class="soft below">The <a href="/swagger/">API documentation</a> is open to everyone.</p>
</main>`,
}); // prettier-ignore

export const signOutPage: Page = {
  title: 'Sign out',
  body: html`<main class="narrow">
<h1>Sign out</h1>
<form class="card" method="post" action="/admin/logout">
<p>This ends your session on this server.</p>
<button>Sign out</button>
</form>
<p class="below"><a href="/admin/queues">Back to the queues</a></p>
</main>`,
}; // prettier-ignore

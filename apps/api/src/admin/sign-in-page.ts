import { html } from './html';
import type { Page } from './page';

export interface SignInView {
  /** Why the last attempt failed. */
  problem?: string;
  username?: string;
  tenant?: string;
  /** Admin page to open after signing in. */
  next?: string;
  providers: readonly ProviderLink[];
}

/** Where a sign-in at an identity provider begins. */
export interface ProviderLink {
  title: string;
  href: string;
}

/** The page never contains the submitted password or key. */
export const signInPage = ({ problem, username, tenant, next, providers }: SignInView): Page => ({
  title: 'Sign in',
  body: html`<main class="narrow">
<h1>Sign in</h1>
<p class="soft">Queues and jobs, for administrators.</p>
${problem && html`<div class="card notice bad" role="alert" id="problem">${problem}</div>`}
<form class="card" method="post" action="/admin/login">
<label for="username">Username or e-mail address <span>(empty for a key)</span></label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" value="${username}">
<label for="api_key">Password or API key</label>
<input id="api_key" name="api_key" type="password" autocomplete="current-password" required autofocus
  ${problem && html`aria-invalid="true" aria-describedby="problem"`}>
<label for="code">Code <span>(only for users with a second factor)</span></label>
<input id="code" name="code" autocomplete="one-time-code" spellcheck="false">
<label for="tenant">Tenant <span>(only for users of another tenant, and keys of several)</span></label>
<input id="tenant" name="tenant" autocomplete="organization" spellcheck="false" value="${tenant}">
${next && html`<input type="hidden" name="next" value="${next}">`}
<button>Sign in</button>
</form>
${providers.map(({ title, href }) => html`<p class="below"><a class="button" href="${href}">${title}</a></p>`)}
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

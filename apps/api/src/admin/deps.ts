import type { MountOptions } from '@svc/http';
import type { Sessions } from '@svc/identity';
import type { Store } from '@svc/store';

/** What the admin pages stand on. */
export interface AdminDeps {
  store: Store;
  sessions: Sessions;
  /** Of the REST surface: the same authenticator, gate and limits stand before these pages. */
  surface: Pick<MountOptions, 'authenticate' | 'gate' | 'rateLimits' | 'onRefused' | 'asAppError'>;
  /** Cookies go over TLS only; else only over the connections that are TLS themselves. */
  secureCookies: boolean;
}

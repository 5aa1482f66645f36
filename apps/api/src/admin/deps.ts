import type { MountOptions } from '@svc/http';
import type { Store } from '@svc/store';
import type { UserDeps } from '@svc/users';

/** Dependencies of the admin pages. */
export interface AdminDeps {
  store: Store;
  /** Sign-in of users and API keys. */
  users: UserDeps;
  /** Options of the REST surface: the pages share its authentication, authorization and limits. */
  surface: Pick<MountOptions, 'authenticate' | 'gate' | 'rateLimits' | 'onRefused' | 'asAppError'>;
  /** Whether cookies are always Secure; otherwise only on TLS connections. */
  secureCookies: boolean;
}

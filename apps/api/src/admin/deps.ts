import type { MountOptions } from '@svc/http';
import type { Sessions } from '@svc/identity';
import type { Store } from '@svc/store';

/** Dependencies of the admin pages. */
export interface AdminDeps {
  store: Store;
  sessions: Sessions;
  /** Options of the REST surface: the pages share its authentication, authorization and limits. */
  surface: Pick<MountOptions, 'authenticate' | 'audited' | 'gate' | 'rateLimits' | 'onRefused' | 'asAppError'>;
  /** Whether cookies are always Secure; otherwise only on TLS connections. */
  secureCookies: boolean;
}

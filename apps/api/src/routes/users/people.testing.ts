import type { Api } from '../../api.testing';
import type { HttpAnswer } from '../../caller.testing';

/** A gateway with users; the address of a client is what it names in X-Forwarded-For. */
export const withUsers = {
  env: {
    SVC_USER_AUTH_ENABLED: 'true',
    SVC_ADMIN_PASSWORD: 'House-of-the-tests-1',
    SVC_USER_SECRET_KEYS: 'K7-user-secret-key-of-these-tests-4tR9',
    SVC_TRUSTED_PROXIES: '127.0.0.1',
    API_PUBLIC_RATE_LIMIT_RPS: '10000',
    API_PUBLIC_RATE_LIMIT_BURST: '10000',
  },
};

export const goodPassword = 'Keel-and-rudder-7';
export const otherPassword = 'Mast-and-sail-8';

/** Requests of people. */
export function people(api: Api) {
  const login = (body: object, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
    api.anonymous.post('/api/v1/auth/login', body, headers);
  const as = (token: string) => ({ Authorization: `Bearer ${token}` });
  return {
    login,
    as,
    from: (address: string) => ({ 'X-Forwarded-For': address }),
    async create(fields: object = {}): Promise<string> {
      const body = { username: 'Ann', password: goodPassword, role: 'viewer', ...fields };
      const answer = await api.as('admin').post('/api/v1/users', body);
      if (answer.status !== 201) throw new Error(JSON.stringify(answer));
      return String(answer.body['id']);
    },
    async signIn(username = 'ann', password = goodPassword): Promise<string> {
      const answer = await login({ username, password });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer));
      return String(answer.body['token']);
    },
    /** Status of a request with a session. */
    check: async (token: string) => (await api.anonymous.get('/api/v1/auth/session', as(token))).status,
  };
}

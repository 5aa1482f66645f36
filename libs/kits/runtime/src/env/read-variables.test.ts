import { declaredEntries } from '../declared-uses.testing';

/** Variables whose whole effect is a check at start-up, so that only this folder reads them. */
const startChecks = [
  'SVC_ENV',
  'SVC_PRODUCTION',
  'SVC_NATS_ALLOW_PLAINTEXT',
  'SVC_GRPC_REFLECTION_FORCE',
  'SAFETY_KERNEL_OPEN',
  'SVC_OIDC_ENABLED',
  'SVC_SAML_ENABLED',
  'SVC_SAML_RESPONSE_BINDING',
];

describe('the tables of variables', () => {
  const entries = declaredEntries(__dirname);
  const isRead = ({ usedIn }: (typeof entries)[number]) => usedIn.some((file) => !file.startsWith(`${__dirname}/`));

  it('every declared variable is read by a service', () => {
    const unread = entries.filter((entry) => !isRead(entry)).map(({ name }) => name);

    expect(unread.sort()).toEqual([...startChecks].sort());
  });

  it('the search covers every variable of every service', () => {
    expect(entries.map(({ name }) => name)).toEqual(expect.arrayContaining(['REDIS_URL', 'SAFETY_KERNEL_ADDR']));
    expect(entries.length).toBeGreaterThan(150);
  });
});

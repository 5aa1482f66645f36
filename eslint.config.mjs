import nx from '@nx/eslint-plugin';

/** What each layer may import. Reading downwards is the whole rule. */
const layers = {
  // The SDK is there for the tests of apps, which bring real workers; no other file of theirs may import it (below).
  app: ['feature', 'adapter', 'wire', 'runtime', 'pure', 'sdk'],
  feature: ['feature', 'adapter', 'runtime', 'pure'],
  adapter: ['adapter', 'wire', 'runtime', 'pure'],
  // What services and the SDK do alike on the bus.
  wire: ['pure'],
  runtime: ['pure'],
  pure: ['pure'],
  sdk: ['wire', 'pure'],
};
/** Features in their order: each may import those before it, so that no two depend on each other. */
const features = [
  ...[
    'audit',
    'access',
    'users',
    'settings',
    'registry',
    'worker-trust',
    'agents',
    'admission',
    'decision',
    'budget',
    'jobs',
    'approvals',
  ],
  ...['policy-admin', 'config-admin', 'output-safety', 'dispatch', 'workflows', 'policy-lab', 'explain', 'streams'],
  ...[
    'license',
    'status',
    'locks',
    'effects',
    'governance',
    'evals',
    'evidence',
    'tenants',
    'telemetry',
    'scim',
    'sso',
  ],
];
const belowFeatures = ['adapter', 'runtime', 'pure', 'testing'].map((layer) => `layer:${layer}`);
const featureOrder = features.map((name, place) => ({
  sourceTag: `feature:${name}`,
  onlyDependOnLibsWithTags: [...features.slice(0, place).map((earlier) => `feature:${earlier}`), ...belowFeatures],
}));
const transports = ['express', 'socket.io', 'ws', '@grpc/*', '@bull-board/*'];
const stores = ['ioredis', 'bullmq', 'nats'];
const banned = { pure: [...transports, ...stores, 'winston', 'prom-client'], feature: transports };
const onlyTestsImportTesting = { name: '@svc/testing', message: 'Only tests import @svc/testing.' };
const onlyTestsImportFixtures = { group: ['@svc/fixtures/*'], message: 'Only tests import fixtures.' };
const onlyTestsImportSdk = {
  name: '@svc/worker-sdk',
  message: 'The worker SDK is for workers; here only tests import it.',
};
const onlyTestsImportVerifier = {
  name: 'svc-verify',
  message: 'The verifier of evidence bundles is for auditors; here only tests import it.',
};
const useOutbound =
  'Request URLs with createOutboundClient() of @svc/outbound: it refuses internal addresses and bounds time, size and redirects.';
const httpClients = [
  ...['node:http', 'node:https', 'http', 'https'].map((name) => ({
    name,
    importNames: ['default', 'request', 'get', 'Agent', 'globalAgent', 'ClientRequest'],
    message: useOutbound,
  })),
  ...['node:http2', 'http2'].map((name) => ({ name, importNames: ['default', 'connect'], message: useOutbound })),
  ...['undici', 'axios', 'got', 'node-fetch'].map((name) => ({ name, message: useOutbound })),
];
const pureFiles = 'libs/{contract,core/*}/**/*.ts';

export default [
  { ignores: ['**/dist', '**/node_modules', 'libs/contract/src/proto/generated'] },
  ...nx.configs['flat/base'],
  ...nx.configs['flat/typescript'],
  {
    files: ['**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          allow: ['@svc/queues.config'],
          depConstraints: [
            ...Object.entries({ ...layers, testing: ['*'] }).map(([layer, may]) => ({
              sourceTag: `layer:${layer}`,
              onlyDependOnLibsWithTags: may
                .map((l) => (l === '*' ? l : `layer:${l}`))
                .concat(layer === 'testing' ? [] : 'layer:testing'),
              ...(banned[layer] && { bannedExternalImports: banned[layer] }),
            })),
            ...featureOrder,
          ],
        },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-empty': ['error', { allowEmptyCatch: false }],
    },
  },
  {
    files: ['**/*.ts'],
    ignores: ['libs/contract/src/*/*.ts'],
    rules: { 'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }] },
  },
  {
    files: ['**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.testing.ts', 'libs/kits/testing/**', 'tools/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [onlyTestsImportTesting, onlyTestsImportSdk, onlyTestsImportVerifier, ...httpClients],
        },
      ],
    },
  },
  {
    // The SDK runs in workers, which may reach what their operator lets them reach.
    files: ['libs/kits/outbound/src/exchange.ts', 'libs/sdk/worker/**/*.ts'],
    ignores: ['**/*.{test,testing}.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: [onlyTestsImportTesting, onlyTestsImportSdk], patterns: [onlyTestsImportFixtures] },
      ],
    },
  },
  {
    // Fixtures serve tests.
    files: ['{apps,libs}/**/*.ts'],
    ignores: ['**/*.{test,testing,fixture}.ts', 'libs/{kits/testing,sdk}/**'],
    rules: {
      'no-restricted-globals': ['error', { name: 'fetch', message: useOutbound }],
      'no-restricted-properties': ['error', { object: 'globalThis', property: 'fetch', message: useOutbound }],
    },
  },
  {
    // Generators and checks read tables wherever they are, also in applications.
    files: ['tools/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  {
    files: [pureFiles],
    ignores: ['**/*.{test,testing,fixture}.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [{ regex: '^node:(?!crypto$)', message: 'A pure library does no I/O.' }],
          paths: [onlyTestsImportTesting, ...httpClients],
        },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'globalThis', property: 'fetch', message: useOutbound },
        { object: 'Date', property: 'now', message: 'Take the time as an argument (nowUs, nowMs).' },
        { object: 'Math', property: 'random', message: 'Take a random source as an argument.' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Take the time as an argument.' },
      ],
    },
  },
];

import { endpoints, errorCodes, type Endpoint, type ErrorCode } from '@svc/contract';
import type { Kernel } from '@svc/kernel-client';
import { useApi, type Api } from '../../api.testing';
import type { HttpAnswer } from '../../caller.testing';
import { ban, storeBundles } from './policy.testing';

const policy: readonly Endpoint[] = endpoints.filter(({ id }: Endpoint) => id.startsWith('policy.'));
const good = ban('a', 'job.a');
const bad = { content: 'rules: [{id: a, decision: maybe}]' };
const pace = { name: 'Pace', window: '5m', key: 'tenant', threshold: 2, decision: 'deny', reason: 'r', match: { topics: ['job.a'] } }; // prettier-ignore

/** A request of an endpoint: path parameters, and body or query. */
interface Sent {
  params?: Readonly<Record<string, string>>;
  query?: string;
  body?: unknown;
}
/** How an error is provoked; other endpoints get their default request. */
interface Provocation {
  arrange?: (api: Api) => unknown;
  sent: Readonly<Record<string, Sent>>;
}

const ask = (api: Api, id: string, { params = {}, query = '', body }: Sent): Promise<HttpAnswer> => {
  const endpoint = policy.find((each) => each.id === id);
  if (!endpoint) throw new Error(`there is no ${id}`);
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? 'x'));
  return api
    .as('admin')
    .send(endpoint.method, `${path}?${query}`, body === undefined ? undefined : JSON.stringify(body));
};

const a = { params: { bundle_id: 'secops~a' } };
const x = { params: { bundle_id: 'acme~x' } };
const question = { topic: 'job.a' };
const asMany = (api: Api) => {
  api.license('enterprise', { max_policy_bundles: 2 });
  return twoBundles(api);
};
const twoBundles = (api: Api) => storeBundles(api, { 'secops/a': { content: good, enabled: true }, 'secops/b': { content: good, enabled: true } }); // prettier-ignore
const brokenBundle = (api: Api) => storeBundles(api, { 'secops/a': { ...bad, enabled: false } });

/** Each error that a policy endpoint declares, with requests that cause it. */
const provocations: Readonly<Partial<Record<ErrorCode, Provocation>>> = {
  policy_validation_failed: {
    arrange: brokenBundle,
    sent: {
      'policy.putBundle': { ...a, body: bad },
      'policy.simulateBundle': { ...a, body: { request: question, ...bad } },
      'policy.putGlobal': { body: { sections: { invariants: bad } } },
      'policy.publish': { body: {} },
    },
  },
  bundle_not_found: {
    sent: {
      'policy.getBundle': a,
      'policy.removeBundle': a,
      'policy.simulateBundle': { ...a, body: { request: question } },
    },
  },
  bundle_not_writable: {
    arrange: (api) => storeBundles(api, { 'acme/x': { content: good, enabled: true } }),
    sent: {
      'policy.putBundle': { ...x, body: { content: good } },
      'policy.removeBundle': x,
      'policy.publish': { body: { bundle_ids: ['acme/x'] } },
    },
  },
  tier_limit_exceeded: {
    arrange: asMany,
    sent: {
      'policy.putBundle': { params: { bundle_id: 'secops~c' }, body: { content: good } },
      'policy.putGlobal': { body: { sections: { invariants: { content: good } } } },
    },
  },
  policy_version_conflict: {
    arrange: twoBundles,
    sent: {
      'policy.putBundle': { ...a, body: { content: ban('z', 'job.z'), expected_sha256: '0'.repeat(64) } },
      'policy.putGlobal': { body: { snapshot_version: '0', sections: { invariants: { content: good } } } },
    },
  },
  snapshot_not_found: {
    sent: {
      'policy.getSnapshot': { params: { snapshot_id: 'none' } },
      'policy.rollback': { body: { snapshot_id: 'none' } },
    },
  },
  output_rule_not_found: { sent: { 'policy.putOutputRule': { params: { rule_id: 'none' }, body: { enabled: true } } } },
  velocity_rule_invalid: {
    arrange: (api) => api.license('enterprise'),
    sent: {
      'policy.addVelocityRule': { body: { ...pace, decision: 'maybe' } },
      'policy.putVelocityRule': { params: { rule_id: 'p' }, body: { ...pace, window: '0s' } },
    },
  },
  velocity_rule_conflict: {
    async arrange(api) {
      api.license('enterprise');
      await ask(api, 'policy.addVelocityRule', { body: { ...pace, id: 'p' } });
    },
    sent: { 'policy.addVelocityRule': { body: { ...pace, id: 'p' } } },
  },
  velocity_rule_not_found: {
    arrange: (api) => api.license('enterprise'),
    sent: {
      'policy.putVelocityRule': { params: { rule_id: 'p' }, body: pace },
      'policy.removeVelocityRule': { params: { rule_id: 'p' } },
    },
  },
  shadow_policy_not_found: {
    sent: {
      'policy.getShadow': a,
      'policy.removeShadow': a,
      'policy.shadowSummary': { ...a, query: 'from=1&to=2' },
      'policy.shadowComparisons': { ...a, query: 'from=1&to=2' },
      'policy.shadowTimeseries': { ...a, query: 'from=1&to=2&bucket=1m' },
    },
  },
  policy_shadow_query_invalid: {
    async arrange(api) {
      await twoBundles(api);
      await ask(api, 'policy.putShadow', { ...a, body: { content: good } });
    },
    sent: {
      'policy.shadowSummary': { ...a, query: 'from=2&to=1' },
      'policy.shadowComparisons': { ...a, query: 'from=1&to=2&limit=0' },
      'policy.shadowTimeseries': { ...a, query: 'from=1&to=2&bucket=2h' },
    },
  },
  policy_shadow_conflict: {
    async arrange(api) {
      await twoBundles(api);
      const { shadows } = api.store;
      const write = shadows.write.bind(shadows);
      jest.spyOn(shadows, 'write').mockImplementationOnce(async (...args) => {
        await ask(api, 'policy.putShadow', { ...a, body: { content: ban('faster', 'job.b') } });
        return write(...args);
      });
    },
    sent: { 'policy.putShadow': { ...a, body: { content: good } } },
  },
  conflict: {
    sent: Object.fromEntries(['evaluate', 'explain'].map((name) => {
      const action = { kind: 'mutation', verb: 'payment', target_resource: { type: 'order' } };
      return [`policy.${name}`, { body: { ...question, action } }];
    })), // prettier-ignore
  },
};

/** Errors of features that the Community plan lacks. */
const plans = ['policy.listVelocityRules', 'policy.velocityStats', 'policy.addVelocityRule', 'policy.putVelocityRule', 'policy.removeVelocityRule']; // prettier-ignore
/** Errors of a gateway with another configuration. */
const elsewhere: Readonly<Partial<Record<ErrorCode, readonly string[]>>> = {
  output_rule_not_editable: ['policy.putOutputRule'],
  policy_signing_required: ['policy.putBundle', 'policy.putGlobal', 'policy.publish', 'policy.addVelocityRule'],
  safety_unavailable: ['policy.evaluate', 'policy.simulate', 'policy.explain', 'policy.snapshots'],
  upstream_service_error: ['policy.evaluate', 'policy.simulate', 'policy.explain', 'policy.snapshots'],
};
const usual: Readonly<Record<string, Sent>> = {
  'policy.putVelocityRule': { params: { rule_id: 'p' }, body: pace },
  'policy.removeVelocityRule': { params: { rule_id: 'p' } },
  'policy.putOutputRule': { params: { rule_id: 'fixed' }, body: { enabled: true } },
  'policy.putBundle': { ...a, body: { content: good } },
  'policy.putGlobal': { body: { sections: { invariants: { content: good } } } },
  'policy.publish': { body: {} },
  'policy.addVelocityRule': { body: pace },
  'policy.evaluate': { body: question },
  'policy.simulate': { body: question },
  'policy.explain': { body: question },
};

/** Public form of the error code. */
function expectCode({ status, body }: HttpAnswer, code: ErrorCode): void {
  const declared: { status: number; text: string; code?: string } = errorCodes[code];
  expect({ status, code: body['code'] }).toEqual({ status: declared.status, code: declared.code ?? code });
  expect(body['error']).toEqual(expect.stringMatching(/./));
  expect(body['status']).toBe(declared.status);
}
const cases = Object.entries(provocations).flatMap(([code, { arrange, sent }]) =>
  Object.entries(sent).map(([id, request]) => [code as ErrorCode, id, arrange, request] as const),
);
const getCases = (code: ErrorCode) => (elsewhere[code] ?? []).map((id) => [code, id] as const);

describe('an error of a policy endpoint', () => {
  const api = useApi();
  it('is provoked here exactly if it is declared', () => {
    const provoked = new Set([...Object.keys(provocations), ...Object.keys(elsewhere)]);
    const declared = new Set(policy.flatMap(({ errors }) => errors));

    expect([...provoked].sort()).toEqual([...declared].sort());
    for (const [code, id] of cases) expect(policy.find((each) => each.id === id)?.errors).toContain(code);
  });

  it.each(cases)('%s: %s', async (code, id, arrange, request) => {
    await arrange?.(api);

    expectCode(await ask(api, id, request), code);
  });
});

describe('of a plan without velocity rules', () => {
  const api = useApi();

  it.each(plans)('tier_limit_exceeded: %s', async (id) => {
    expectCode(await ask(api, id, usual[id] ?? {}), 'tier_limit_exceeded');
  });
});

describe('of a rule that is written in the policy file', () => {
  const api = useApi();
  beforeEach(() => api.policy(`version: '1'\nrules: []\noutput_rules: [{id: fixed, decision: deny}]\n`));

  it.each(getCases('output_rule_not_editable'))('%s: %s', async (code, id) => {
    expectCode(await ask(api, id, usual[id] ?? {}), code);
  });
});

describe('of a gateway that has no key to sign with', () => {
  const api = useApi({ env: { SVC_POLICY_SIGNING_KEY: '' } });
  beforeEach(async () => {
    api.license('enterprise');
    await storeBundles(api, { 'secops/a': { content: good, enabled: false } });
  });

  it.each(getCases('policy_signing_required'))('%s: %s', async (code, id) => {
    expectCode(await ask(api, id, usual[id] ?? {}), code);
  });
});

describe('of a gateway whose kernel is unavailable', () => {
  const api = useApi({ env: { SAFETY_KERNEL_ADDR: '127.0.0.1:1' } });

  it.each(getCases('safety_unavailable'))('%s: %s', async (code, id) => {
    expectCode(await ask(api, id, usual[id] ?? {}), code);
  });
});

describe('of a gateway whose kernel fails', () => {
  const failing = () => Promise.reject(new Error('the kernel failed'));
  const kernel: Partial<Kernel> = { evaluate: failing, simulate: failing, explain: failing, listSnapshots: failing };
  const api = useApi({
    context: (ctx) => ({ ...ctx, policyEvaluate: { ...ctx.policyEvaluate, kernel: kernel as Kernel } }),
  });

  it.each(getCases('upstream_service_error'))('%s: %s', async (code, id) => {
    expectCode(await ask(api, id, usual[id] ?? {}), code);
  });
});

import fc from 'fast-check';
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { type DelegationClaims, type DelegationKeys, readToken, signToken } from './claims';
import { delegate, exceedsSubject, findClaimFault, LEEWAY_SEC, type Delegation } from './delegate';
import { coversAny } from './glob';

const { privateKey } = generateKeyPairSync('ed25519');
const keys: DelegationKeys = {
  signing: { kid: 'dlg-2', key: privateKey },
  verifying: new Map([['dlg-2', createPublicKey(privateKey)]]),
};
const base: Delegation = {
  subject: { id: 'a', allowed_tools: ['mail.*'], allowed_topics: ['job.*'] },
  ...{ audience: 'b', tenant: 'acme', actions: undefined, topics: undefined, ttlSec: 900, parent: undefined },
  ...{ maxDepth: 3, jti: '1'.repeat(32), nowSec: 1_000_000 },
};
const issued = (over: Partial<Delegation> = {}): DelegationClaims => {
  const outcome = delegate({ ...base, ...over });
  if ('fault' in outcome) throw new Error(outcome.fault);
  return outcome.claims;
};
const rules = { tenant: 'acme', audience: 'b', maxDepth: 3, nowSec: 1_000_100 };

describe('a chain of delegations', () => {
  it('permits no more than any agent and any delegation before it, and does not outlive them', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 5 });
    const list = fc.array(pattern, { maxLength: 4 });
    const step = fc.record({
      tools: list,
      topics: list,
      actions: fc.option(list, { nil: undefined }),
      wantedTopics: fc.option(list, { nil: undefined }),
      ttl: fc.integer({ min: 1, max: 2_000 }),
    });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), text, (steps, action) => {
        let parent: DelegationClaims | undefined;
        const before: (readonly string[])[] = [];
        for (const [i, { tools, topics, actions, wantedTopics, ttl }] of steps.entries()) {
          const subject = { id: `agent-${i}`, allowed_tools: tools, allowed_topics: topics };
          const outcome = delegate({ ...base, subject, actions, topics: wantedTopics, ttlSec: ttl, parent, jti: `j${i}`, nowSec: base.nowSec + i });
          if ('fault' in outcome) return;
          before.push(tools, ...(parent ? [parent.allowed_actions] : []));
          if (coversAny(outcome.claims.allowed_actions, action)) for (const list of before) expect(coversAny(list, action)).toBe(true);
          expect(outcome.claims.exp).toBeLessThanOrEqual(parent?.exp ?? Infinity);
          expect(exceedsSubject(outcome.claims, subject)).toBe(false);
          expect(outcome.claims.chain_depth).toBe(i + 1);
          expect(i).toBeLessThan(3);
          parent = outcome.claims;
        }
      }),
      { numRuns: 2_000 },
    );
  }); // prettier-ignore

  it('refuses more than the subject or the parent has, and a chain that is too deep', () => {
    const parent = issued({ actions: ['mail.read'] });
    const child = { subject: { id: 'b', allowed_tools: ['*'], allowed_topics: ['*'] }, parent, jti: 'c' };

    expect(delegate({ ...base, actions: ['*'] })).toEqual({ fault: 'scope_exceeded' });
    expect(delegate({ ...base, topics: ['other'] })).toEqual({ fault: 'scope_exceeded' });
    expect(delegate({ ...base, ...child, actions: ['mail.send'] })).toEqual({ fault: 'scope_exceeded' });
    expect(issued(child).allowed_actions).toEqual(['mail.read']);
    expect(delegate({ ...base, ...child, maxDepth: 1 })).toEqual({ fault: 'chain_too_deep' });
    expect(issued({ ...child, ttlSec: 86_400 }).exp).toBe(parent.exp);
  });
});

describe('a token', () => {
  it('is read back with a known key only', () => {
    const claims = issued();
    const token = signToken(claims, keys);
    const [head = '', body = '', signature = ''] = token.split('.');

    expect(readToken(token, keys)).toEqual({ claims });
    expect(readToken(token, { verifying: new Map() })).toEqual({ fault: 'unknown_kid' });
    const other = createPublicKey(generateKeyPairSync('ed25519').privateKey);
    expect(readToken(token, { verifying: new Map([['dlg-2', other]]) })).toEqual({ fault: 'bad_signature' });
    const wider = Buffer.from(JSON.stringify({ ...claims, allowed_actions: ['*'] })).toString('base64url');
    expect(readToken(`${head}.${wider}.${signature}`, keys)).toEqual({ fault: 'bad_signature' });
    expect(readToken(`${head}.${body}.${signature}A`, keys)).toEqual({ fault: 'bad_signature' });
  });

  it.each([
    ['no algorithm', { alg: 'none', kid: 'dlg-2', typ: 'JWT' }],
    ['another algorithm', { alg: 'HS256', kid: 'dlg-2', typ: 'JWT' }],
    ['critical extensions', { alg: 'EdDSA', kid: 'dlg-2', typ: 'JWT', crit: ['exp'] }],
    ['no type', { alg: 'EdDSA', kid: 'dlg-2' }],
  ])('with %s in its header is malformed, also when it is signed', (_, header) => {
    const signed = [header, issued()].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const token = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;

    expect(readToken(token, keys)).toEqual({ fault: 'malformed' });
  });

  it.each(['', '.', 'a.b.c', '..', 'x'.repeat(70_000), '{}.{}.{}', 'bnVsbA.bnVsbA.eA'])('%# is malformed', (text) => {
    expect(readToken(text, keys)).toEqual({ fault: 'malformed' });
  });

  it.each<[string, string, Partial<DelegationClaims>, Partial<typeof rules>]>([
    ['another issuer', 'malformed', { iss: 'x' }, {}],
    ['another tenant', 'malformed', {}, { tenant: 'globex' }],
    ['a depth that differs from its chain', 'malformed', { chain_depth: 2 }, {}],
    ['the chain of another token', 'malformed', { jti: 'x' }, {}],
    ['another parent', 'malformed', { parent_token_jti: 'x' }, {}],
    ['another audience', 'audience_mismatch', {}, { audience: 'c' }],
    ['its end in the past', 'expired', {}, { nowSec: base.nowSec + 900 + LEEWAY_SEC }],
    ['its begin in the future', 'not_yet_valid', {}, { nowSec: base.nowSec - LEEWAY_SEC - 1 }],
    ['a depth over the limit', 'chain_too_deep', {}, { maxDepth: 0 }],
  ])('with %s: %s', (_, fault, claims, rule) => {
    expect(findClaimFault({ ...issued(), ...claims }, { ...rules, ...rule })).toBe(fault);
  });

  it('is valid within the tolerated difference of clocks', () => {
    for (const nowSec of [base.nowSec - LEEWAY_SEC, rules.nowSec, base.nowSec + 900 + LEEWAY_SEC - 1])
      expect(findClaimFault(issued(), { ...rules, nowSec })).toBeUndefined();
  });
});

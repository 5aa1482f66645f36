import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VelocityAnswer } from './evaluate/request';
import { evaluateOutput } from './output/evaluate-output';
import type { FindOutput } from './output/output-request';
import { ask, buildPolicy, verdict } from './policy.testing';

const policy = buildPolicy(readFileSync(join(__dirname, '../../../../config/safety.yaml'), 'utf8'));
const counted = (count: number) => (): VelocityAnswer => ({ kind: 'count', count });

describe('the shipped policy', () => {
  it.each([
    ['job.default', {}, 'ALLOW', 'demo-allowed'],
    ['job.demo.echo', {}, 'ALLOW', 'demo-allowed'],
    ['job.demo.archive', { meta: { risk_tags: ['destructive'] } }, 'ALLOW', 'demo-allowed'],
    ['job.other', {}, 'DENY', ''],
    ['job.svc.approval-gate', {}, 'REQUIRE_APPROVAL', 'approval-gates'],
    ['job.demo.wipe', { meta: { risk_tags: ['destructive'] } }, 'DENY', 'demo-no-wipe'],
    ['job.demo.refund', { input_content: '{"amount": 251}' }, 'REQUIRE_APPROVAL', 'demo-big-refund'],
    ['job.demo.refund', { input_content: '{"amount": 250}' }, 'ALLOW', 'demo-allowed'],
    ['job.demo.sandboxed', {}, 'ALLOW_WITH_CONSTRAINTS', 'demo-sandboxed'],
  ])('%s %j: %s', (topic, request, decision, rule) => {
    expect(verdict(policy, { topic, ...request })).toEqual([decision, rule]);
  });

  it('offers archiving instead of wiping', () => {
    const { remediations } = ask(policy, { topic: 'job.demo.wipe', meta: { risk_tags: ['destructive'] } });

    expect(remediations).toMatchObject([{ id: 'archive', replacement_topic: 'job.demo.archive' }]);
  });

  it('throttles a burst after three, per tenant', () => {
    const keys: string[] = [];
    const fourth = ask(policy, { topic: 'job.demo.burst', tenant: 'acme' }, {}, ({ key }) => {
      keys.push(key);
      return { kind: 'count', count: 4 };
    });

    expect(fourth).toMatchObject({ decision: 'THROTTLE', throttle_duration_ms: 5_000 });
    expect(keys).toEqual(['acme']);
    expect(verdict(policy, { topic: 'job.demo.burst' }, {}, counted(3))[0]).toBe('ALLOW');
  });

  describe('outputs', () => {
    const found = (...has: string[]): FindOutput => {
      return ({ scanners }) => ({
        kind: 'scanned',
        findings: scanners.filter((name) => has.includes(name)).map((type) => ({ type, severity: 'high' })),
      });
    };
    const of = (topic: string, ...has: string[]) => {
      const { decision, rule_id } = evaluateOutput(policy, { phase: 'content', topic }, found(...has));
      return [decision, rule_id];
    };

    it('withholds secrets and injections, and releases personal data unless the topic redacts it', () => {
      expect(of('job.default', 'secret')).toEqual(['QUARANTINE', 'output-secret-leak']);
      expect(of('job.default', 'injection')).toEqual(['QUARANTINE', 'output-injection-detected']);
      expect(of('job.default', 'pii')).toEqual(['ALLOW', '']);
      expect(of('job.demo.redact', 'pii')).toEqual(['REDACT', 'redact-emails']);
      expect(of('job.demo.redact', 'pii', 'secret')).toEqual(['QUARANTINE', 'output-secret-leak']);
    });

    it('withholds more than 10 MiB without reading it', () => {
      const sized = (output_size_bytes: number) =>
        evaluateOutput(policy, { phase: 'metadata', topic: 'job.default', output_size_bytes }).decision;

      expect([sized(10_485_760), sized(10_485_761)]).toEqual(['ALLOW', 'QUARANTINE']);
    });
  });
});

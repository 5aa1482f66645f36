import type { LoggedDecision, LoggedResolution } from '@svc/governance';

/** A logged decision, now, that denies. */
export const decision = (over: Partial<LoggedDecision>): LoggedDecision => ({
  ...{ position: 0, atMs: Date.now(), jobId: 'j', topic: 'job.a', ruleId: '', verdict: 'deny', reason: '' },
  ...{
    constraints: '',
    agentId: '',
    principalId: '',
    capability: '',
    riskTags: [],
    packId: '',
    policyVersion: 's|cfg:1',
  },
  ...over,
});

/** A logged approval, now, after `waitedMs`. */
export const resolution = (waitedMs: number, over: Partial<LoggedResolution> = {}): LoggedResolution => {
  const atMs = over.atMs ?? Date.now();
  return {
    ...{
      position: 0,
      jobId: 'j',
      topic: 'job.a',
      ruleId: 'r',
      agentId: '',
      outcome: 'approved',
      by: 'ola',
      role: 'operator',
    },
    ...{ reason: '', atMs, heldAtMs: atMs - waitedMs },
    ...over,
  };
};

import { type AdmissionLimits, admit, hasMemory, jobOverheadBytes, type Load } from './admit';

const open: AdmissionLimits = { jobs: 0, bytes: 0, tenantJobs: 0, tenantBytes: 0, memoryPercent: 0 };
const empty: Load = {
  tenant: { jobs: 0, bytes: 0 },
  all: { jobs: 0, bytes: 0 },
  memory: { usedBytes: 0, limitBytes: 0 },
};
const decide = (load: Partial<Load>, limits: Partial<AdmissionLimits>, bytes = 10) =>
  admit({ ...empty, ...load }, { ...open, ...limits }, bytes);

describe('admission', () => {
  it('admits everything without limits', () => {
    const much = { jobs: 1e9, bytes: 1e15 };

    expect(decide({ tenant: much, all: much, memory: { usedBytes: 1e15, limitBytes: 1 } }, {})).toEqual({
      kind: 'admitted',
    });
  });

  it('admits work up to each limit and refuses more', () => {
    const usage = { jobs: 4, bytes: 90 };

    expect(decide({ tenant: usage }, { tenantJobs: 5, tenantBytes: 100 })).toEqual({ kind: 'admitted' });
    expect(decide({ tenant: usage }, { tenantJobs: 4 })).toEqual({
      kind: 'tenant_full',
      of: 'jobs',
      current: 4,
      limit: 4,
    });
    expect(decide({ tenant: usage }, { tenantBytes: 99 })).toMatchObject({ of: 'bytes', current: 90, limit: 99 });
    expect(decide({ all: usage }, { jobs: 5, bytes: 100 })).toEqual({ kind: 'admitted' });
    expect(decide({ all: usage }, { jobs: 4 })).toEqual({ kind: 'full', of: 'jobs' });
    expect(decide({ all: usage }, { bytes: 99 })).toEqual({ kind: 'full', of: 'bytes' });
  });

  it('reports the tenant limit before a shared limit', () => {
    const full = { jobs: 4, bytes: 0 };

    expect(decide({ tenant: full, all: full }, { tenantJobs: 4, jobs: 4 })).toMatchObject({ kind: 'tenant_full' });
  });

  it('reserves a share of the memory, and counts the overhead of a job', () => {
    const limits = { memoryPercent: 75 };
    const at = (usedBytes: number) => ({ memory: { usedBytes, limitBytes: 100_000 } });
    const justRoom = 75_000 - 10 - jobOverheadBytes;

    expect(decide(at(justRoom), limits)).toEqual({ kind: 'admitted' });
    expect(decide(at(justRoom + 1), limits)).toEqual({ kind: 'full', of: 'memory' });
    expect(hasMemory(at(justRoom + 1), { ...open, ...limits }, 10)).toBe(true);
    expect(decide({ memory: { usedBytes: 1e12, limitBytes: 0 } }, limits)).toEqual({ kind: 'admitted' });
  });
});

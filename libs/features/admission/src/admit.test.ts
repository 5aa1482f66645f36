import { type AdmissionLimits, admit, hasMemory, jobOverheadBytes, type Load } from './admit';

const open: AdmissionLimits = { jobs: 0, bytes: 0, tenantJobs: 0, tenantBytes: 0, memoryPercent: 0 };
const empty: Load = {
  tenant: { jobs: 0, bytes: 0 },
  all: { jobs: 0, bytes: 0 },
  memory: { usedBytes: 0, limitBytes: 0 },
};
const verdict = (load: Partial<Load>, limits: Partial<AdmissionLimits>, bytes = 10) =>
  admit({ ...empty, ...load }, { ...open, ...limits }, bytes);

describe('admission', () => {
  it('lets everything in where no limit is set', () => {
    const much = { jobs: 1e9, bytes: 1e15 };

    expect(verdict({ tenant: much, all: much, memory: { usedBytes: 1e15, limitBytes: 1 } }, {})).toEqual({
      kind: 'admitted',
    });
  });

  it('lets in up to the limit, and the next one not', () => {
    const held = { jobs: 4, bytes: 90 };

    expect(verdict({ tenant: held }, { tenantJobs: 5, tenantBytes: 100 })).toEqual({ kind: 'admitted' });
    expect(verdict({ tenant: held }, { tenantJobs: 4 })).toEqual({
      kind: 'tenant_full',
      of: 'jobs',
      current: 4,
      limit: 4,
    });
    expect(verdict({ tenant: held }, { tenantBytes: 99 })).toMatchObject({ of: 'bytes', current: 90, limit: 99 });
    expect(verdict({ all: held }, { jobs: 5, bytes: 100 })).toEqual({ kind: 'admitted' });
    expect(verdict({ all: held }, { jobs: 4 })).toEqual({ kind: 'full', of: 'jobs' });
    expect(verdict({ all: held }, { bytes: 99 })).toEqual({ kind: 'full', of: 'bytes' });
  });

  it('tells a tenant of its own limit first', () => {
    const full = { jobs: 4, bytes: 0 };

    expect(verdict({ tenant: full, all: full }, { tenantJobs: 4, jobs: 4 })).toMatchObject({ kind: 'tenant_full' });
  });

  it('keeps a part of the memory free, and counts with what a job takes beside its input', () => {
    const limits = { memoryPercent: 75 };
    const at = (usedBytes: number) => ({ memory: { usedBytes, limitBytes: 100_000 } });
    const justRoom = 75_000 - 10 - jobOverheadBytes;

    expect(verdict(at(justRoom), limits)).toEqual({ kind: 'admitted' });
    expect(verdict(at(justRoom + 1), limits)).toEqual({ kind: 'full', of: 'memory' });
    expect(hasMemory(at(justRoom + 1), { ...open, ...limits }, 10)).toBe(true);
    expect(verdict({ memory: { usedBytes: 1e12, limitBytes: 0 } }, limits)).toEqual({ kind: 'admitted' });
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Root } from 'protobufjs';
import { grpcServices, protoDescriptor } from '../index';

describe('generated code', () => {
  it('is up to date with the .proto files (else run `npm run proto`)', () => {
    const fresh = mkdtempSync(join(tmpdir(), 'proto-'));
    const checkedIn = join(__dirname, 'generated');
    try {
      execFileSync(process.execPath, [resolve(__dirname, '../../../../tools/proto.mjs'), fresh]);

      expect(readdirSync(fresh)).toEqual(readdirSync(checkedIn));
      for (const file of readdirSync(fresh)) {
        // Compared as a boolean, since a diff of 200 KB is useless.
        expect([file, readFileSync(join(fresh, file)).equals(readFileSync(join(checkedIn, file)))]).toEqual([
          file,
          true,
        ]);
      }
    } finally {
      rmSync(fresh, { recursive: true });
    }
  });

  it('loads as the gRPC services the contract names', () => {
    const root = Root.fromJSON(protoDescriptor).resolveAll();
    const paths = Object.values(grpcServices).flatMap((name) =>
      Object.keys(root.lookupService(name).methods).map((method) => `/${name}/${method}`),
    );

    expect(paths).toEqual([
      '/svc.v1.SvcApi/SubmitJob',
      '/svc.v1.SvcApi/GetJobStatus',
      '/svc.v1.SvcApi/WatchJob',
      '/svc.agent.v1.SafetyKernel/Check',
      '/svc.agent.v1.SafetyKernel/Evaluate',
      '/svc.agent.v1.SafetyKernel/Explain',
      '/svc.agent.v1.SafetyKernel/Simulate',
      '/svc.agent.v1.SafetyKernel/ListSnapshots',
      '/svc.agent.v1.SafetyKernelBatch/Decide',
      '/svc.v1.OutputPolicyService/CheckOutput',
    ]);
  });
});

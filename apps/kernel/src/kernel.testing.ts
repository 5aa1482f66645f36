import { openLocalKernel, type Kernel } from '@svc/kernel-client';
import { silentLogger, systemClock } from '@svc/runtime';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

type KernelDeps = Parameters<typeof openLocalKernel>[1];

/** A kernel with one policy file in a temporary folder of the test. */
export async function startKernel(
  policy: string,
  folder: string,
  deps: Pick<KernelDeps, 'redis' | 'metrics'>,
): Promise<Kernel> {
  const policyPath = join(folder, 'safety.yaml');
  writeFileSync(policyPath, policy);
  return openLocalKernel(
    {
      policyPath,
      scannersPath: join(folder, 'none.yaml'),
      policyMaxBytes: 100_000,
      reloadIntervalMs: 1_000,
      signature: { required: false },
      bundles: { disabled: false, scope: 'system', id: 'policy', key: 'bundles', strict: 'off', publicKeys: {} },
      velocityFailMode: 'closed',
      decisionCache: { ttlMs: 0, maxSize: 1 },
    },
    { log: silentLogger, clock: systemClock(), ...deps },
  );
}

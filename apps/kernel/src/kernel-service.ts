import { unary, type Method } from '@svc/grpc';
import type { Kernel } from '@svc/kernel-client';
import { buildDecisions } from './decisions';

/** `svc.agent.v1.SafetyKernel`. See docs/reference/policy.md#kernel. */
export function kernelService(kernel: Kernel): Record<string, Method> {
  const decide = buildDecisions(kernel);
  return {
    Check: unary(decide.Check),
    Evaluate: unary(decide.Evaluate),
    Explain: unary(decide.Explain),
    Simulate: unary(decide.Simulate),
    ListSnapshots: unary(async () => ({ snapshots: await kernel.listSnapshots() })),
  };
}

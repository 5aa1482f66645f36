import { unary, type Method } from '@svc/grpc';
import {
  checkRequestOf,
  checkResponseMessage,
  type Kernel,
  type PolicyCheckRequestMessage,
  type PolicyCheckResponseMessage,
} from '@svc/kernel-client';
import { AppError } from '@svc/contract';

type Decide = 'check' | 'evaluate' | 'explain' | 'simulate';

/** `svc.agent.v1.SafetyKernel`. Wire contract 18.2. */
export function kernelService(kernel: Kernel): Record<string, Method> {
  const decide = (method: Decide) =>
    unary<PolicyCheckRequestMessage, PolicyCheckResponseMessage>(async (message) =>
      checkResponseMessage(await kernel[method](requestOf(message))),
    );
  return {
    Check: decide('check'),
    Evaluate: decide('evaluate'),
    Explain: decide('explain'),
    Simulate: decide('simulate'),
    ListSnapshots: unary(async () => ({ snapshots: await kernel.listSnapshots() })),
  };
}

function requestOf(message: PolicyCheckRequestMessage) {
  try {
    return checkRequestOf(message);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new AppError('invalid_json', { error: 'effective_config and server_facts must be JSON' });
  }
}

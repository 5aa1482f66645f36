import { AppError } from '@svc/contract';
import {
  checkRequestOf,
  checkResponseMessage,
  trialOf,
  type DecisionMethod,
  type Kernel,
  type PolicyCheckRequestMessage,
  type PolicyCheckResponseMessage,
} from '@svc/kernel-client';

type Decide = (message: PolicyCheckRequestMessage) => Promise<PolicyCheckResponseMessage>;

/** Decides a request, whether it arrived alone or in a batch. */
export function buildDecisions(kernel: Kernel): Record<DecisionMethod, Decide> {
  const by =
    (method: 'check' | 'evaluate' | 'explain'): Decide =>
    async (message) =>
      checkResponseMessage(await kernel[method](toRequest(message)));
  const simulate: Decide = async (message) =>
    checkResponseMessage(await kernel.simulate(toRequest(message), trialOf(message)));
  return { Check: by('check'), Evaluate: by('evaluate'), Explain: by('explain'), Simulate: simulate };
}

function toRequest(message: PolicyCheckRequestMessage) {
  try {
    return checkRequestOf(message);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new AppError('invalid_json', { error: 'effective_config and server_facts must be JSON' });
  }
}

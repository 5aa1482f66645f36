import { AppError } from '@svc/contract';
import {
  toCheckRequest,
  checkResponseMessage,
  toTrial,
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
    checkResponseMessage(await kernel.simulate(toRequest(message), toTrial(message)));
  return { Check: by('check'), Evaluate: by('evaluate'), Explain: by('explain'), Simulate: simulate };
}

function toRequest(message: PolicyCheckRequestMessage) {
  try {
    return toCheckRequest(message);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new AppError('invalid_json', { error: 'effective_config and server_facts must be JSON' });
  }
}

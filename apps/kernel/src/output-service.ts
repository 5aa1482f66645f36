import { unary, type Method } from '@svc/grpc';
import {
  toOutputRequest,
  outputResponseMessage,
  type Kernel,
  type OutputCheckRequestMessage,
  type OutputCheckResponseMessage,
} from '@svc/kernel-client';

/** `svc.v1.OutputPolicyService`. See docs/reference/policy.md#output-policy. */
export const outputService = (kernel: Kernel): Record<string, Method> => ({
  CheckOutput: unary<OutputCheckRequestMessage, OutputCheckResponseMessage>(async (message) =>
    outputResponseMessage(await kernel.checkOutput(toOutputRequest(message))),
  ),
});

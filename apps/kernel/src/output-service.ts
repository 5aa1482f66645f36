import { unary, type Method } from '@svc/grpc';
import {
  outputRequestOf,
  outputResponseMessage,
  type Kernel,
  type OutputCheckRequestMessage,
  type OutputCheckResponseMessage,
} from '@svc/kernel-client';

/** `svc.v1.OutputPolicyService`. Wire contract 18.3. */
export const outputService = (kernel: Kernel): Record<string, Method> => ({
  CheckOutput: unary<OutputCheckRequestMessage, OutputCheckResponseMessage>(async (message) =>
    outputResponseMessage(await kernel.checkOutput(outputRequestOf(message))),
  ),
});

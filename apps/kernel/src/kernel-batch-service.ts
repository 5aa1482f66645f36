import { AppError, limits } from '@svc/contract';
import { batch, type Method, type Outcome } from '@svc/grpc';
import {
  decisionMethods,
  policyCodec,
  type DecisionAnswerMessage,
  type DecisionBatchRequestMessage,
  type DecisionBatchResponseMessage,
  type DecisionQuestionMessage,
  type Kernel,
} from '@svc/kernel-client';
import { buildDecisions } from './decisions';

/** `svc.agent.v1.SafetyKernelBatch`: many requests in one call, each decided independently. See ADR 8. */
export function kernelBatchService(kernel: Kernel): Record<string, Method> {
  const decide = buildDecisions(kernel);
  const codec = policyCodec();
  return {
    Decide: batch<DecisionBatchRequestMessage, DecisionBatchResponseMessage, DecisionQuestionMessage, Buffer>({
      entries({ questions }) {
        refuseLarge(questions);
        return questions;
      },
      async answer({ method, request }) {
        const name = decisionMethods.find((known) => known === method);
        if (!name)
          throw new AppError('method_not_allowed', { error: `a batch asks ${decisionMethods.join(', ')} only` });
        return codec.encodeResponse(await decide[name](decoded(request)));
      },
      response: (outcomes) => ({ answers: outcomes.map(toDecisionAnswer) }),
    }),
  };

  function decoded(request: Buffer) {
    try {
      return codec.decodeRequest(request);
    } catch {
      throw new AppError('invalid_body', { error: 'request must be an encoded PolicyCheckRequest' });
    }
  }
}

function refuseLarge(questions: readonly DecisionQuestionMessage[]): void {
  const bytes = questions.reduce((sum, { request }) => sum + request.length, 0);
  if (questions.length <= limits.decisionBatch && bytes <= limits.decisionBatchBytes) return;
  throw new AppError('invalid_body', {
    error: `a batch holds at most ${limits.decisionBatch} questions and ${limits.decisionBatchBytes} bytes, this one ${questions.length} and ${bytes}: send several batches, and what is larger to SafetyKernel`,
  });
}

const nothing = Buffer.alloc(0);
const toDecisionAnswer = (outcome: Outcome<Buffer>): DecisionAnswerMessage =>
  outcome.kind === 'answered'
    ? { response: outcome.answer, code: 0, details: '', error_code: '' }
    : { response: nothing, code: outcome.code, details: outcome.details, error_code: outcome.errorCode };

/** The methods of SafetyKernel that decide. See docs/reference/policy.md#kernel. */
export const decisionMethods = ['Check', 'Evaluate', 'Explain', 'Simulate'] as const;
export type DecisionMethod = (typeof decisionMethods)[number];

/** Messages of `svc.agent.v1.SafetyKernelBatch`, as gRPC encodes them with `wireOptions` of the contract. */
export interface DecisionBatchRequestMessage {
  questions: readonly DecisionQuestionMessage[];
}
export interface DecisionQuestionMessage {
  /** May be a method of another version that is not in {@link decisionMethods}. */
  method: string;
  request: Buffer;
}
export interface DecisionBatchResponseMessage {
  answers: readonly DecisionAnswerMessage[];
}
export interface DecisionAnswerMessage {
  response: Buffer;
  code: number;
  details: string;
  error_code: string;
}

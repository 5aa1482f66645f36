/** Reason a step or a run did not succeed. */
export interface RunError {
  message: string;
  code?: string;
}

/** Exit code of a worker that took a job which ends every worker, so that it is not taken for a failure of the SDK. */
export const poisonedExit = 86;

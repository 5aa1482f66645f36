import { approvalGateTopic } from './subjects';

/** Whether a result pointer names the job's own result or a part of it. Other pointers are forwarded and never followed. */
export const isOwnResult = (id: string, pointer: string): boolean =>
  pointer === `redis://res:${id}` || pointer.startsWith(`redis://res:${id}:`);

/** A pointer into the platform's store; pointers of other schemes are forwarded and never followed. */
export const isStorePointer = (pointer: string): boolean => pointer.startsWith('redis://');

/** Pointer to a job's input document: the one that the request names, else the job's own. */
export const contextPointer = ({
  id,
  request,
}: {
  id: string;
  request: { context_ptr?: string | undefined };
}): string => request.context_ptr ?? ownContextPointer(id);

export const ownContextPointer = (id: string): string => `redis://ctx:${id}`;

/** Pointer to the result body of a job at its usual key. */
export const ownResultPointer = (id: string): string => `redis://res:${id}`;

/** Jobs of the internal approval topic are never routed; only a resolution of their approval ends them. */
export const isGate = (topic: string): boolean => topic === approvalGateTopic;

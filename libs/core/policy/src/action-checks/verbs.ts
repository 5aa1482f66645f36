import type { ActionVerb } from '@svc/contract';

export const isWrite = (verb: ActionVerb): boolean => verb !== 'read';
export const isDestructive = (verb: ActionVerb): boolean => verb !== 'read' && verb !== 'write';

import { machine, type EventOf, type StateOf } from './machine';

/**
 * A side effect that a worker records under a key. It is created begun, before its function runs. `lose` applies when its
 * dispatch ended without a result; a late `finish` or `abandon` of that dispatch still counts. An operator settles an unknown
 * one. See docs/reference/effects.md.
 */
export const effectStates = machine('effect', {
  begin: { from: ['not_happened', 'retry'], to: 'begun' },
  finish: { from: ['begun', 'unknown'], to: 'done' },
  abandon: { from: ['begun', 'unknown'], to: 'not_happened' },
  lose: { from: ['begun'], to: 'unknown' },
  confirm: { from: ['unknown'], to: 'happened' },
  deny: { from: ['unknown'], to: 'not_happened' },
  redo: { from: ['unknown'], to: 'retry' },
});

export type EffectState = StateOf<typeof effectStates>;
export type EffectEvent = EventOf<typeof effectStates>;

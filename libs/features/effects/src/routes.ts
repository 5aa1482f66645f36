import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { getEffect, listEffects, listJobEffects } from './read-effects';
import { type SettleDeps, settleEffect } from './settle-effect';

/** Dependencies of these handlers. */
export interface EffectsContext {
  effects: SettleDeps;
}

const handle = handlersFor<EffectsContext>();

/** The ledger of side effects. */
export const effectsRoutes = [
  handle(contract.listEffects, ({ query, caller, ctx }) => listEffects(ctx.effects, caller, query)),
  handle(contract.getEffect, ({ params, caller, ctx }) => getEffect(ctx.effects, caller, params.id)),
  handle(contract.listJobEffects, ({ params, caller, ctx }) => listJobEffects(ctx.effects, caller, params.id)),
  handle(contract.settleEffect, ({ params, body, caller, ctx }) => settleEffect(ctx.effects, caller, params.id, body)),
];

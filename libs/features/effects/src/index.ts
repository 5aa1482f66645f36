/** The ledger of side effects: what workers recorded, and how operators settle what is unknown. */
export { effectsRoutes, type EffectsContext } from './routes';

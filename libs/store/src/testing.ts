/** Fixtures for the tests of other projects. */
export { useRedisStore } from './redis-store.testing';
export { waitingPlan } from './store.testing';
export { giveAgent, type GivenAgent } from './given-agent.testing';

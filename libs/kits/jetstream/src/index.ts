export * from './durable-publisher';
export { EndOfTurn } from './end-of-turn';
export * from './server-list';

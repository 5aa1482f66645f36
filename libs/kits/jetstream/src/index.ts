export * from './dispatch-grant';
export * from './durable-publisher';
export { EndOfTurn } from './end-of-turn';
export * from './packet-signature';
export * from './server-list';

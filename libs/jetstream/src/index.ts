export * from './durable-publisher';

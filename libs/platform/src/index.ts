export * from './open-platform';

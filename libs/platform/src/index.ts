export * from './open-platform';
export * from './open-service-kernel';
export * from './when-available';

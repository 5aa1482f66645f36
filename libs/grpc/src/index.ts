export { packageDefinition, serviceDefinition } from './definitions';

export { applyPatch, readOperations, type PatchOperation } from './patch';
export { isObject, readValue, type Attribute, type Json, type ResourceSchema } from './attributes';
export { buildUserSchema, userSchemaId } from './user-schema';
export { commonSchema, pageSizes, project, sortResources, takePage, type Projection } from './list';
export { findEquality, matches, parseFilter, type Filter } from './filter';
export { groupSchema, groupSchemaId } from './group-schema';
export { readResource } from './read-resource';
export { ScimFault, type ScimFaultType } from './fault';

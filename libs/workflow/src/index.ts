export { checkDefinition, type CheckedDefinition, type DefinitionDeps } from './definition/check-definition';
export type { SchemaCompiler } from './definition/check-schemas';
export { graphOf, type WorkflowGraph } from './definition/graph';
export { definitionLimits } from './definition/limits';
export { switchCases, switchDefault, type SwitchCase } from './definition/links';
export * from './definition/workflow';
export * from './expressions/compile-expression';
export * from './expressions/compile-template';
export * from './expressions/expression';

export * from './definition/workflow';
export * from './expressions/compile-expression';
export * from './expressions/compile-template';
export * from './expressions/expression';

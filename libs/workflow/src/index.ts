export * from './definition/workflow';
export * from './expressions/expression';

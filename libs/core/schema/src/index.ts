export { CompileCache } from './compile-cache';
export { compileSchema, getSchemaId, type Compilation, type CompiledSchema } from './compile';
export { schemaLimits } from './limits';
export type { Violation } from './violations';

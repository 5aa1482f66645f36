import type { AppError } from './errors';

/** Media type and error bodies of a published protocol, for all paths below its base. All other paths use those of this API. */
export interface WireForm {
  /** Without a slash at the end. */
  basePath: string;
  mediaType: string;
  /** JSON Schema of an error body, and its name in the API document. */
  errorSchema: { name: string; schema: Readonly<Record<string, unknown>> };
  toErrorBody(error: AppError): { status: number; body: Readonly<Record<string, unknown>> };
}

import { scimForm } from './scim/scim-form';
import type { WireForm } from './wire-form';

/** Every form but that of this API. */
export const wireForms: readonly WireForm[] = [scimForm];

/** The form of a path; undefined for the form of this API. */
export const findWireForm = (path: string): WireForm | undefined =>
  wireForms.find(({ basePath }) => path === basePath || path.startsWith(`${basePath}/`));

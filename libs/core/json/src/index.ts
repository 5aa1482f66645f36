export { canonicalHash, canonicalJson, fingerprint } from './canonical-json';
export { isRecord } from './is-record';

import { version } from '../package.json';

/** Sent in each handshake. */
export const sdkVersion: string = version;

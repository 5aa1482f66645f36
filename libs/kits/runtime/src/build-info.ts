import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Version of the running process, as shown in `/api/v1/status`, the gRPC handshake, `--version` and `svc_build_info`. */
export interface BuildInfo {
  version: string;
  /** Git commit, `unknown` when the build did not say. */
  commit: string;
  /** Build time as RFC 3339, empty when the build did not say. */
  date: string;
  /** Major version of the bus protocol. */
  protocol: number;
}

const protocol = 1;

/**
 * Reads SVC_BUILD_VERSION, SVC_BUILD_COMMIT and SVC_BUILD_DATE, which a build sets. A checkout has the version of the nearest
 * `package.json` that contains one, from `from` upwards.
 */
export function readBuildInfo(source: NodeJS.ProcessEnv, from: string): BuildInfo {
  return {
    version: source.SVC_BUILD_VERSION || versionAbove(from) || '0.0.0',
    commit: source.SVC_BUILD_COMMIT || 'unknown',
    date: source.SVC_BUILD_DATE || '',
    protocol,
  };
}

function versionAbove(folder: string): string | undefined {
  const file = join(folder, 'package.json');
  const found: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  if (typeof found === 'object' && found && 'version' in found && typeof found.version === 'string')
    return found.version;
  return dirname(folder) === folder ? undefined : versionAbove(dirname(folder));
}

import { isWrite } from './verbs';
import { refused, type ActionCheckInput, type Objection } from './action-check';
import { normalizePath } from './normalize-path';

const credentialNames: readonly RegExp[] = [
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?(\.(?!pub$).*)?$/,
  /^\.env(\.(?!(example|sample|template|dist)$).*)?$/,
  /^[._](netrc|npmrc|pgpass|pypirc|git-credentials|htpasswd)$/,
  /\.(pem|key|kdbx|p12|pfx|gpg|ppk|jks|keystore)$/,
  /^(application_default_)?credentials(\.json)?$/,
];

/** Two tests instead of one: with `.*` between them, matching would be quadratic. */
const isCloudAccount = (file: string): boolean =>
  file.endsWith('.json') && /service[-_]?account|gcp[-_]?key|google[-_]?credentials/.test(file);

/** Folders and files that hold credentials or the secrets of processes, wherever a root is mounted. */
const sensitive: readonly RegExp[] = [
  /\/etc\/g?shadow-?(\/|$)/,
  /\/etc\/sudoers(\.d)?(\/|$)/,
  /\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|maps)$/,
  /\/\.(ssh|aws|docker|kube|gnupg|azure)(\/|$)/,
  /\/\.config\/gcloud(\/|$)/,
  /\/system32\/config\/(sam|system|security|software|default)(\.[a-z0-9]+)?$/,
  /\/repair\/(sam|system|security)$/,
  /\/(ntuser|usrclass)\.dat$/,
  /^\/(hklm|hkcu|hkey_[a-z_]+):?(\/|$)/,
];
const systemFiles = /(^|\/)etc\/(passwd|group|hosts)-?$|^(\/private)?\/(boot|sbin|usr\/sbin|usr\/local\/sbin)(\/|$)/;
const reservedNames = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/;

/**
 * Blocks access to credentials and system files. The path is normalized as a system would: decoded up to three times,
 * environment names expanded, separators and case folded. A path that is still encoded after that, or that names an
 * unknown variable, is rejected. `.pub` keys and `.env.example` are not credentials.
 * See docs/reference/policy.md#action-checks.
 */
export function checkFile({ action }: ActionCheckInput): Objection | undefined {
  if (action.kind !== 'file') return undefined;
  if (!action.target_path?.trim()) return refused('no_path', 'a file action names its file');
  const { path, fault } = normalizePath(action.target_path);
  if (fault) return refused(fault, faults[fault]);
  const segments = path.split('/').filter((segment) => segment !== '');
  if (
    /^\/\/[.?]\/|^\/dev(\/|$)|^\/\/[^/]+\/(pipe|ipc\$)(\/|$)/.test(path) ||
    segments.some((s) => reservedNames.test(s))
  ) {
    return refused('device_namespace', 'devices are no files'); // prettier-ignore
  }
  const file = normalizeName(segments.at(-1) ?? '');
  if (credentialNames.some((form) => form.test(file)) || isCloudAccount(file))
    return refused('credential_file', 'the file holds credentials');
  const rooted = path.startsWith('/') ? path : `/${path}`;
  if (sensitive.some((form) => form.test(rooted))) return refused('sensitive_path', 'the path holds secrets');
  if (isWrite(action.verb) && systemFiles.test(rooted)) return refused('system_path_write', 'the system’s own files');
  return undefined;
}

/** Systems ignore streams, and dots and blanks at the end of a name. */
function normalizeName(segment: string): string {
  const stream = segment.indexOf(':', 1);
  let end = stream < 0 ? segment.length : stream;
  while (end > 0 && /[. ]/.test(segment.charAt(end - 1))) end -= 1;
  return segment.slice(0, end);
}

const faults = {
  null_byte: 'the path has a null byte',
  path_traversal: 'the path leads upwards',
  path_encoding: 'the path is encoded more often than anybody decodes',
  unresolved_environment: 'the path depends on a variable that is not known here',
} as const;

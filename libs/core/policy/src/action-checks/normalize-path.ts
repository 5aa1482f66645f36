export interface NormalPath {
  /** With `/` between lower-case segments, without `.` segments and drive letters. */
  path: string;
  fault?: 'null_byte' | 'path_traversal' | 'path_encoding' | 'unresolved_environment';
}

const MAX_DECODINGS = 3;

/** Values of well-known variables; only the rest of the path matters. */
const environment: Readonly<Record<string, string>> = {
  home: '/home/user', userprofile: '/users/user', homepath: '/users/user', appdata: '/users/user/appdata/roaming',
  localappdata: '/users/user/appdata/local', tmpdir: '/tmp', tmp: '/tmp', temp: '/tmp', pwd: '.', oldpwd: '.',
  systemroot: '/windows', windir: '/windows', systemdrive: '', homedrive: '', programdata: '/programdata',
  programfiles: '/program files', xdg_config_home: '/home/user/.config', user: 'user', username: 'user',
  logname: 'user', public: '/users/public', allusersprofile: '/programdata',
}; // prettier-ignore

/** Normalizes a path as any operating system would. See docs/reference/policy.md#action-checks. */
export function normalizePath(given: string): NormalPath {
  let text = expand(given.trim().replace(/^file:(\/\/(localhost)?(?=\/))?/i, ''));
  for (let i = 0; i < MAX_DECODINGS; i += 1) text = expand(decode(text));
  if (text.includes('\0')) return { path: '', fault: 'null_byte' };
  if (/%[0-9a-f]{2}/i.test(text)) return { path: '', fault: 'path_encoding' };
  const folded = text.normalize('NFKC').replaceAll('\\', '/').toLowerCase();
  // `::$data` names a stream of a file.
  if (/\$\{|(?<!::)\$[a-z_]|%[a-z_][\w()]*%/.test(folded)) return { path: '', fault: 'unresolved_environment' };
  const device = /^\/\/[^/]+\//.exec(folded)?.[0];
  const rest = device ? folded.slice(device.length) : folded.replace(/^[a-z]:(?=\/|$)/, '');
  const segments = rest.split('/');
  // Windows takes `.. ` and `...` for `..`.
  if (segments.some((segment) => /^\.\.[. ]*$/.test(segment.trim()))) return { path: '', fault: 'path_traversal' };
  const kept = segments.filter((segment) => segment !== '' && segment !== '.').join('/');
  return { path: `${device ?? (/^\//.test(rest) ? '/' : '')}${kept}` };
}

function expand(text: string): string {
  const named = (whole: string, ...names: unknown[]) => {
    const name = names.find((each): each is string => typeof each === 'string') ?? '';
    const key = name.toLowerCase();
    return (Object.hasOwn(environment, key) ? environment[key] : undefined) ?? whole;
  };
  return text
    .replace(/^~[a-z0-9_-]*(?=[\\/]|$)/i, '/home/user')
    .replace(/\$\{(?:env:)?(\w+)\}|\$env:(\w+)|\$(\w+)|%([a-z_]\w*)%/gi, named);
}

/** Bytes that are not UTF-8 are kept one by one, so that they do not stop the decoding of the rest. */
const decode = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    }
  });

import { outcome } from './action-checks.testing';

const read = (target_path: string) => outcome({ kind: 'file', verb: 'read', target_path });
const write = (target_path: string) => outcome({ kind: 'file', verb: 'write', target_path });

describe('actiongate.file', () => {
  it.each([
    ['/srv/data/report.csv', 'passed'],
    ['report.csv', 'passed'],
    ['C:\\Data\\report.csv', 'passed'],
    ['/srv/..data/a..b', 'passed'],
    ['$HOME/notes.txt', 'passed'],
    ['/home/ann/.ssh/id_ed25519.pub', 'sensitive_path'],
    ['/srv/keys/id_rsa.pub', 'passed'],
    ['/app/.env.example', 'passed'],
    ['', 'no_path'],
    ['/srv/a\0.txt', 'null_byte'],
    ['/srv/a%00.txt', 'null_byte'],
    ['/srv/a%2500.txt', 'null_byte'],
    ['/srv/../etc/passwd', 'path_traversal'],
    ['..\\..\\windows', 'path_traversal'],
    ['/srv/%2e%2e/x', 'path_traversal'],
    ['/srv/%252e%252e%252fx', 'path_traversal'],
    ['/srv/%25252e%25252e/x', 'path_traversal'],
    ['/srv/%2525252e%2525252e/x', 'path_encoding'],
    ['/srv/.. /x', 'path_traversal'],
    ['\\\\.\\PhysicalDrive0', 'device_namespace'],
    ['\\\\?\\C:\\x', 'device_namespace'],
    ['/dev/sda', 'device_namespace'],
    ['C:\\temp\\NUL.txt', 'device_namespace'],
    ['com1', 'device_namespace'],
    ['/home/ann/.ssh/config', 'sensitive_path'],
    ['~/.aws/credentials', 'credential_file'],
    ['~/.aws/config', 'sensitive_path'],
    ['%USERPROFILE%\\.docker\\config.json', 'sensitive_path'],
    ['${HOME}/.kube/config', 'sensitive_path'],
    ['/ETC/Shadow', 'sensitive_path'],
    ['/mnt/host/etc/shadow', 'sensitive_path'],
    ['/etc//./shadow', 'sensitive_path'],
    ['/etc/sudoers.d/x', 'sensitive_path'],
    ['/proc/self/environ', 'sensitive_path'],
    ['C:\\Windows\\System32\\config\\SAM', 'sensitive_path'],
    ['%SystemRoot%\\system32\\config\\security', 'sensitive_path'],
    ['HKLM\\SAM\\Domains', 'sensitive_path'],
    ['/srv/id_rsa', 'credential_file'],
    ['/srv/ID_RSA', 'credential_file'],
    ['/app/.env', 'credential_file'],
    ['/app/.env.production', 'credential_file'],
    ['.netrc', 'credential_file'],
    ['/x/.npmrc', 'credential_file'],
    ['/x/.pgpass', 'credential_file'],
    ['/x/tls.pem', 'credential_file'],
    ['/x/tls.pem.', 'credential_file'],
    ['/x/tls.pem::$DATA', 'credential_file'],
    ['/x/a.kdbx', 'credential_file'],
    ['/x/gcp-service-account-prod.json', 'credential_file'],
    ['/x/%69d_rsa', 'credential_file'],
    ['/x/ｉｄ_rsa', 'credential_file'],
    ['file:///etc/shadow', 'sensitive_path'],
    ['/srv/$SECRET_DIR/x', 'unresolved_environment'],
    ['%SECRETS%\\x', 'unresolved_environment'],
  ])('reading %j: %s', async (path, expected) => {
    expect(await read(path)).toBe(expected === 'passed' ? 'passed' : `file 403 ${expected}`);
  });

  it.each(['/etc/passwd', '/etc/group', '/etc/hosts', '/boot/grub/grub.cfg', '/usr/sbin/cron', '/sbin/init'])(
    '%s can be read and not written',
    async (path) => {
      expect([await read(path), await write(path)]).toEqual(['passed', 'file 403 system_path_write']);
    },
  );

  it('applies to files only', async () => {
    expect(await outcome({ kind: 'tenant_query', target_path: '/etc/shadow' })).toBe('passed');
  });
});

import type { BuiltInPattern } from '../definitions';

const critical = { severity: 'critical', confidence: 'high', context_required: false } as const;
const schemes = [
  'postgres',
  'mysql',
  'mariadb',
  'mongodb',
  'redis',
  'amqp',
  'nats',
  'mssql',
  'sqlserver',
  'http',
  'ftp',
  'smtp',
  'clickhouse',
  'ldap',
];

const headerBytes = 512;
const inToken = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-') inToken[char.charCodeAt(0)] = 1;
const marker = [0x65, 0x79, 0x4a]; // eyJ, the prefix of every encoded object

/** From the dot before the claims back to the first `eyJ` before it. */
function headerBegins(body: Uint8Array, dot: number): number {
  let begin = dot;
  for (let at = dot - 1; at >= 0 && dot - at <= headerBytes && inToken[body[at] ?? 0] === 1; at--) {
    const isMarker = marker.every((byte, index) => body[at + index] === byte);
    const followsWord = at > 0 && inToken[body[at - 1] ?? 0] === 1 && body[at - 1] !== dash;
    if (isMarker && !followsWord) begin = at;
  }
  return begin;
}
const dash = 0x2d;

/** Credentials. */
export const secretPatterns: readonly BuiltInPattern[] = [
  {
    name: 'aws_access_key_id',
    regex: '\\b(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ANVA|ABIA|ACCA)[A-Z2-7]{16}\\b',
    ...critical,
    needles: ['akia', 'asia', 'aroa', 'aida', 'agpa', 'anpa', 'anva', 'abia', 'acca'],
  },
  {
    name: 'aws_secret_access_key',
    regex:
      '(?i)secret[ _.-]?(?:access[ _.-]?)?key\\\\{0,3}["\']?(?:[ \\t]{0,8}(?::=|=>|=|:)[ \\t]{0,8}|>)\\\\{0,3}["\']?(?<value>[a-z0-9/+]{40})(?:[^a-z0-9/+=]|$)',
    ...critical,
    needles: ['secret'],
  },
  {
    name: 'github_token',
    regex: '\\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})',
    ...critical,
    needles: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
  },
  {
    name: 'gitlab_token',
    regex: '\\bgl(?:pat|ptt|dt|rt|cbt|soat|ft|agent|imt|oas|ffct)-[A-Za-z0-9_-]{20,}',
    ...critical,
    needles: [
      'glpat-',
      'glptt-',
      'gldt-',
      'glrt-',
      'glcbt-',
      'glsoat-',
      'glft-',
      'glagent-',
      'glimt-',
      'gloas-',
      'glffct-',
    ],
  },
  {
    name: 'slack_token',
    regex: '\\b(?:xox[abeoprs]-[0-9][A-Za-z0-9-]{9,}|xapp-[0-9]-[A-Za-z0-9]{6,20}-[A-Za-z0-9-]{10,})',
    ...critical,
    needles: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'],
  },
  {
    name: 'slack_webhook',
    regex:
      '\\bhooks\\.slack\\.com/(?:services/T[A-Z0-9]{6,14}/B[A-Z0-9]{6,14}/[A-Za-z0-9]{16,40}|workflows/T[A-Z0-9]{6,14}/A[A-Z0-9]{6,14}/[0-9]{6,24}/[A-Za-z0-9]{16,40}|triggers/[ET][A-Z0-9]{6,14}/[0-9]{6,24}/[A-Za-z0-9]{16,40})',
    severity: 'high',
    confidence: 'high',
    context_required: false,
    needles: ['hooks.slack.com/'],
  },
  {
    name: 'stripe_key',
    regex: '\\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}',
    ...critical,
    needles: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'],
  },
  {
    name: 'model_provider_key',
    regex: '\\bsk-[A-Za-z0-9_-]{20,}',
    ...critical,
    needles: ['sk-'],
  },
  { name: 'npm_token', regex: '\\bnpm_[A-Za-z0-9]{36}\\b', ...critical, needles: ['npm_'] },
  {
    name: 'google_api_key',
    regex: '\\b(?<value>AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)',
    ...critical,
    needles: ['aiza'],
  },
  {
    name: 'google_oauth_secret',
    regex: '\\bGOCSPX-[A-Za-z0-9_-]{20,}',
    ...critical,
    needles: ['gocspx-'],
  },
  {
    name: 'sendgrid_key',
    regex: '\\bSG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,}',
    ...critical,
    needles: ['sg.'],
  },
  {
    name: 'jwt',
    regex: '\\beyJ[A-Za-z0-9_-]{5,512}\\.eyJ[A-Za-z0-9_-]{5,}(?:\\.[A-Za-z0-9_-]*)?',
    severity: 'high',
    confidence: 'high',
    context_required: false,
    needles: ['.eyj'],
    begin: headerBegins,
  },
  {
    // Includes the key after its header, so that redaction removes both.
    name: 'private_key',
    regex:
      '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=:,.() \\t\\r\\n\\\\]|-[A-Za-z0-9])*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?',
    ...critical,
    needles: ['-----begin '],
  },
  {
    name: 'connection_string',
    regex:
      '(?i)\\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|nats|mssql|sqlserver|https?|s?ftp|smtps?|ldaps?|clickhouse)(?:\\+[a-z0-9]{1,16})?://[^ \\t\\r\\n"\'`<>/:@]{0,64}:(?<value>[^ \\t\\r\\n"\'`<>/@[{$][^ \\t\\r\\n"\'`<>/@]{2,128})@[a-z0-9[]',
    severity: 'critical',
    confidence: 'high',
    context_required: false,
    needles: [...schemes, 'sftp'],
  },
  {
    name: 'connection_password',
    regex:
      '(?i)\\b(?:server|data source|host|account ?endpoint|endpoint|accountname|defaultendpointsprotocol|user id|username|user|uid|database(?:name)?)[ ]?=[^;\\r\\n"\']{1,128};(?:[^;=\\r\\n"\']{1,32}=[^;\\r\\n"\']{0,128};){0,6}?[ ]?(?:password|passwd|pwd|accountkey|sharedaccesskey)[ ]?=[ ]?(?<value>[^ ;\\r\\n"\'<>\\\\`[{$][^ ;\\r\\n"\'<>\\\\`]{3,128})',
    severity: 'critical',
    confidence: 'medium',
    context_required: false,
    needles: [
      ...['server', 'data source', 'host', 'accountendpoint', 'account endpoint', 'endpoint=', 'accountname'],
      ...['defaultendpointsprotocol', 'user id', 'username', 'user=', 'uid', 'database=', 'databasename'],
    ],
  },
  {
    name: 'bearer_token',
    regex:
      '(?i)\\bauthorization\\\\{0,3}["\']?\\]?[ ]{0,2}[:=][ ]{0,2}\\[?\\\\{0,3}["\']?(?:bearer|basic|token|apikey|bot)[ ]{1,2}(?<value>[a-z0-9._~+/=-]{15,}[a-z0-9_~+/=-])',
    severity: 'high',
    confidence: 'high',
    context_required: false,
    needles: ['authorization'],
  },
  {
    name: 'high_entropy_assignment',
    regex:
      '(?i)(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|credential)[a-z0-9_.-]{0,32}\\\\{0,3}["\']?\\]?[ \\t]{0,8}(?::=|=>|=|:|>)[ \\t]{0,8}\\\\{0,3}["\']?(?<value>[a-z0-9+/_=.~!@#%^&*-]{8,128})',
    severity: 'high',
    confidence: 'medium',
    context_required: false,
    needles: [
      'password',
      'passwd',
      'passphrase',
      'pwd',
      'secret',
      'token',
      ...['api', 'access', 'private', 'encryption'].flatMap((word) => [`${word}key`, `${word}_key`, `${word}-key`]),
      'credential',
    ],
  },
];

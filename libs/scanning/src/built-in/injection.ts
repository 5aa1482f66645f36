import type { BuiltInPattern } from '../definitions';

const high = { severity: 'high', confidence: 'high', context_required: false } as const;
const likely = { severity: 'high', confidence: 'medium', context_required: false } as const;
const spaces = '[ \\t\\r\\n]{1,8}';

/** Fragments that try to make a shell, a database or a model do something. */
export const injectionPatterns: readonly BuiltInPattern[] = [
  {
    name: 'shell_destructive',
    regex:
      '\\brm[ \\t]{1,4}(?:-{1,2}[a-z-]{1,20}[ \\t]{1,4}){0,4}-[A-Za-z]{0,6}[rRf][A-Za-z]{0,6}[ \\t]{1,4}["\']?[/~*$]',
    ...high,
    severity: 'critical',
    needles: ['rm ', 'rm\t'],
  },
  {
    name: 'shell_download_and_run',
    regex:
      '\\b(?:curl|wget)[ \\t][^|\\r\\n]{1,300}\\|[ \\t]{0,4}(?:sudo[ \\t]{1,4})?(?:bash|zsh|dash|ksh|sh|python3?|perl)\\b',
    ...high,
    severity: 'critical',
    needles: ['curl ', 'wget ', 'curl\t', 'wget\t'],
  },
  {
    name: 'shell_reverse',
    regex: '/dev/(?:tcp|udp)/[A-Za-z0-9.$_{}-]{1,128}/',
    ...high,
    severity: 'critical',
    needles: ['/dev/tcp/', '/dev/udp/'],
  },
  {
    name: 'shell_listener',
    regex: '\\b(?:nc|ncat|netcat)[ \\t][^\\r\\n|;]{0,128}-[a-z]{0,4}[ec][ \\t]{1,4}/bin/[a-z]{0,4}sh\\b',
    ...high,
    severity: 'critical',
    needles: ['nc ', 'ncat ', 'netcat ', 'nc\t', 'ncat\t', 'netcat\t'],
  },
  {
    name: 'shell_fork_bomb',
    regex: ':\\(\\)[ ]?\\{[ ]?:[ ]?\\|[ ]?:[ ]?&[ ]?\\}[ ]?;[ ]?:',
    ...high,
    needles: [':()'],
  },
  {
    name: 'sql_union_select',
    regex: `(?i)\\bunion${spaces}(?:all${spaces}|distinct${spaces})?select\\b`,
    ...likely,
    needles: ['union'],
  },
  {
    name: 'sql_tautology',
    regex:
      '(?i)[\'"][ \\t]{0,8}(?:or|and)[ \\t]{1,8}(?:\\d{1,8}[ \\t]{0,4}=[ \\t]{0,4}\\d{1,8}|\'[^\'\\r\\n]{0,32}\'[ \\t]{0,4}=[ \\t]{0,4}\'[^\'\\r\\n]{0,32}|"[^"\\r\\n]{0,32}"[ \\t]{0,4}=[ \\t]{0,4}"[^"\\r\\n]{0,32})',
    ...high,
    needles: ["'", '"'],
  },
  {
    name: 'sql_stacked',
    regex: `(?i);[ \\t\\r\\n]{0,8}(?:drop|truncate|alter)${spaces}(?:table|database|schema|user)\\b`,
    ...likely,
    needles: [';'],
  },
  {
    name: 'sql_time_based',
    regex: '(?i)\\b(?:waitfor[ ]{1,4}delay[ ]{1,4}[\'"]|pg_sleep[ ]?\\(|xp_cmdshell\\b)',
    ...likely,
    needles: ['waitfor', 'pg_sleep', 'xp_cmdshell'],
  },
  {
    name: 'prompt_override',
    regex: `(?i)\\b(?:ignore|disregard|forget|override)${spaces}(?:(?:all|any|of|the|your|my|these|those)${spaces}){0,4}(?:previous|prior|above|earlier|preceding|system)${spaces}(?:(?:system|safety)${spaces})?(?:instruction|prompt|rule|direction|message|guideline)s?\\b`,
    ...high,
    needles: ['ignore', 'disregard', 'forget', 'override'],
  },
  {
    name: 'prompt_extraction',
    regex: `(?i)\\b(?:reveal|print|show|repeat|output|display)${spaces}(?:me${spaces})?(?:your|the)${spaces}(?:(?:full|entire|exact)${spaces})?(?:system|hidden|initial|original)${spaces}(?:prompt|instructions?|message)\\b`,
    ...likely,
    severity: 'medium',
    needles: ['reveal', 'print', 'show', 'repeat', 'output', 'display'],
  },
  {
    name: 'prompt_role_change',
    regex: `(?i)\\byou are now${spaces}(?:in${spaces})?(?:an?${spaces})?(?:dan\\b|developer mode|jailbroken|unrestricted|unfiltered|free from)`,
    ...likely,
    needles: ['you are now'],
  },
  {
    name: 'prompt_template_token',
    regex: '<\\|(?:im_start|im_end|system|endoftext|start_header_id)\\|>|<</?SYS>>',
    ...likely,
    severity: 'medium',
    needles: ['<|', '<<'],
  },
];

import type { BuiltInPattern } from '../definitions';

const high = { severity: 'high', confidence: 'high', context_required: false } as const;
const likely = { severity: 'high', confidence: 'medium', context_required: false } as const;
/** Between words: blanks, line ends, and Markdown markers. */
const spaces = '[ \\t\\r\\n*>#]{1,8}';
/** Between words of a query, also URL-encoded. */
const sqlSpaces = '(?:[ \\t\\r\\n+]|%20|%0[9ad]|/\\*[^*\\r\\n]{0,32}\\*/){1,8}';
const longestShell = 'bash'.length;

/** From `sh -i` back over the prefix of bash, zsh and others. */
function shellBegins(body: Uint8Array, needleAt: number): number {
  let begin = needleAt;
  if (lower(body[begin]) !== 's') return begin;
  while (begin > 0 && needleAt - begin < longestShell && /[a-z]/.test(lower(body[begin - 1]))) begin--;
  return begin;
}
const lower = (byte = 0): string => String.fromCharCode(byte).toLowerCase();

/** Fragments that try to control a shell, a database or a model. */
export const injectionPatterns: readonly BuiltInPattern[] = [
  {
    name: 'shell_destructive',
    regex:
      '\\brm[ \\t]{1,4}(?:-{1,2}[a-z-]{1,20}[ \\t]{1,4}){0,4}-[A-Za-z]{0,6}[rRf][A-Za-z]{0,6}[ \\t]{1,4}(?:--[a-z-]{0,24}[ \\t]{1,4}){0,3}["\']?[/~*$]',
    ...high,
    severity: 'critical',
    needles: ['rm ', 'rm\t'],
  },
  {
    // The shell before `$(curl ...)` is verified by a check.
    name: 'shell_download_and_run',
    regex:
      '(?i)(?:\\b(?:iwr|irm|invoke-webrequest|invoke-restmethod)[ \\t][^\\r\\n]{1,300}?\\|[ \\t]{0,4}(?:iex|invoke-expression)\\b|\\b(?:curl|wget)[ \\t][^\\r\\n]{1,300}?\\|[ \\t]{0,4}(?:sudo[ \\t]{1,4}(?:-[a-z]{1,4}[ \\t]{1,4})?)?(?:bash|zsh|dash|ksh|sh|python3?|perl|ruby|node|php)\\b|[$<]\\([ \\t]{0,2}(?:curl|wget)[ \\t])',
    ...high,
    severity: 'critical',
    needles: [
      ...['curl ', 'wget ', 'curl\t', 'wget\t', '$(curl', '$(wget', '<(curl', '<(wget', '$( curl', '$( wget'],
      ...['iwr ', 'irm ', 'invoke-webrequest', 'invoke-restmethod'],
    ],
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
    regex:
      '(?i)\\b(?:(?:nc|ncat|netcat)[ \\t][^\\r\\n|;]{0,128}(?:-[a-z]{0,4}[ec]|--exec|--sh-exec)[ \\t]{1,4}["\']?(?:(?:/usr)?/bin/)?(?:[a-z]{0,4}sh|cmd(?:\\.exe)?|powershell(?:\\.exe)?)\\b|socat[ \\t][^\\r\\n]{0,128}exec:|[a-z]{0,4}sh[ ]{1,2}-i[ ][^|\\r\\n]{0,24}\\|[ ]{0,2}(?:nc|ncat|netcat|telnet)[ ])',
    ...high,
    severity: 'critical',
    needles: ['nc ', 'ncat ', 'netcat ', 'nc\t', 'ncat\t', 'netcat\t', 'sh -i ', 'sh  -i ', 'socat '],
    begin: shellBegins,
  },
  {
    name: 'shell_fork_bomb',
    regex: ':\\(\\)[ ]?\\{[ ]?:[ ]?\\|[ ]?:[ ]?&[ ]?\\}[ ]?;[ ]?:',
    ...high,
    needles: [':()'],
  },
  {
    name: 'sql_union_select',
    regex: `(?i)(?:\\b|%20)union(?:${sqlSpaces}(?:all${sqlSpaces}|distinct${sqlSpaces})?|\\()select\\b`,
    ...likely,
    needles: ['union', '%20union'],
  },
  {
    name: 'sql_tautology',
    regex:
      '(?i)(?:[\'"][ \\t]{0,8}(?:\\)[ \\t]{0,4})?(?:or|and)[ \\t]{1,8}\\(?(?:\\d{1,8}[ \\t]{0,4}=[ \\t]{0,4}\\d{1,8}|true\\b|\'[^\'\\r\\n]{0,32}\'[ \\t]{0,4}(?:=|like)[ \\t]{0,4}\'[^\'\\r\\n]{0,32}|\\\\{0,3}"[^"\\r\\n]{0,32}"[ \\t]{0,4}=[ \\t]{0,4}\\\\{0,3}"[^"\\r\\n]{0,32})|\\b(?:or|and)(?:[ ]|%20|\\+)(?:0[ ]?=[ ]?0|1[ ]?=[ ]?1|2[ ]?=[ ]?2|3[ ]?=[ ]?3|4[ ]?=[ ]?4|5[ ]?=[ ]?5|6[ ]?=[ ]?6|7[ ]?=[ ]?7|8[ ]?=[ ]?8|9[ ]?=[ ]?9)\\b)',
    ...high,
    needles: [
      "'",
      '"',
      ...['or', 'and'].flatMap((word) => [' ', '%20', '+'].flatMap((gap) => [`${word}${gap}0=`, `${word}${gap}0 =`])),
    ],
  },
  {
    name: 'sql_stacked',
    regex: `(?i);[ \\t]{0,8}(?:(?:drop|truncate|alter)${sqlSpaces}(?:table|database|schema|user)|delete${sqlSpaces}from|insert${sqlSpaces}into|exec(?:ute)?${sqlSpaces}[a-z_.]{3,32})\\b`,
    ...likely,
    needles: [';'],
  },
  {
    name: 'sql_time_based',
    regex:
      '(?i)\\b(?:waitfor[ ]{1,4}delay[ ]{1,4}[\'"]|pg_sleep[ ]?\\(|xp_cmdshell\\b|sleep\\([0-9]{1,4}\\)|benchmark\\([0-9]{4,12},)',
    ...likely,
    needles: ['waitfor', 'pg_sleep', 'xp_cmdshell', 'sleep(0', 'benchmark(0'],
  },
  {
    name: 'prompt_override',
    regex: `(?i)\\b(?:(?:ignore|disregard|forget|override|do not follow|stop following|pay no attention to)${spaces}(?:(?:all|any|of|the|your|my|these|those|everything|every)${spaces}){0,4}(?:(?:previous|prior|above|earlier|preceding|system|foregoing)${spaces}(?:(?:system|safety)${spaces})?(?:instruction|prompt|rule|direction|directive|message|guideline|programming|order|command)s?|(?:instruction|prompt|rule|direction|guideline)s?${spaces}(?:(?:that|which)${spaces})?(?:above|before|you (?:were|have been) given))|(?:ignore|disregard|forget)${spaces}(?:everything|all|anything)${spaces}(?:(?:that|which)${spaces})?(?:above|before this|you (?:were|have been) told|i said)|(?:ignore|disregard)${spaces}(?:all${spaces}|everything${spaces})?(?:of${spaces})?the above${spaces}(?:and|instead)|(?:ignore|disregard|forget)${spaces}what${spaces}(?:you (?:were|have been) told|i said))\\b`,
    ...high,
    needles: ['ignore', 'disregard', 'forget', 'override', 'do not follow', 'stop following', 'pay no attention'],
  },
  {
    name: 'prompt_extraction',
    regex: `(?i)\\b(?:(?:reveal|print|show|repeat|output|display|tell|give|leak|disclose|expose|summari[sz]e|translate)${spaces}(?:me${spaces})?(?:(?:your|the)${spaces}(?:(?:full|entire|exact|whole)${spaces})?(?:system|hidden|secret)${spaces}(?:prompts?|instructions?)|your${spaces}(?:(?:full|entire|exact|whole)${spaces})?(?:(?:system|hidden|secret|initial|original)${spaces}message|(?:initial|original)${spaces}(?:prompts?|instructions?)))|what${spaces}(?:is|are|was|were)${spaces}your${spaces}(?:system|hidden|secret|initial|original)${spaces}(?:prompts?|instructions?)|(?:repeat|print|output)${spaces}(?:everything|(?:all )?the words|all text|the text)${spaces}above)\\b`,
    ...likely,
    severity: 'medium',
    needles: [
      ...[
        'reveal',
        'print',
        'show',
        'repeat',
        'output',
        'display',
        'tell me',
        'tell your',
        'give',
        'leak',
        'disclose',
        'summari',
        'translate',
      ],
      ...['expose', 'what is', 'what are', 'what was', 'what were'],
    ],
  },
  {
    name: 'prompt_role_change',
    regex: `(?i)\\b(?:(?:you are now|you.re now|act as)${spaces}(?:in${spaces})?(?:an?${spaces})?(?:dan\\b|developer mode|jailbroken|unrestricted|unfiltered|uncensored|free${spaces}from${spaces}(?:all${spaces}|any${spaces}|your${spaces}){0,2}(?:restriction|rule|filter|guideline|limit|constraint|polic))|pretend${spaces}(?:that${spaces})?you${spaces}have${spaces}no${spaces}(?:restriction|rule|filter|guideline|limit|constraint|polic)|you are no longer bound)`,
    ...likely,
    needles: ['you are now', "you're now", 'act as', 'pretend', 'you are no longer'],
  },
  {
    name: 'prompt_template_token',
    regex:
      '<\\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|end_header_id|eot_id)\\|>|<</?SYS>>|\\[/?INST\\]|<(?:start|end)_of_turn>',
    ...likely,
    severity: 'medium',
    needles: ['<|', '<<', '[inst]', '[/inst]', '<start_of', '<end_of'],
  },
];

import type { MatchContext } from './checks-context';

const systemFolder =
  /^\/(?:bin|boot|dev|etc|home|lib|lib64|mnt|opt|proc|root|sbin|srv|sys|usr|var)(?:\/[^/\s"'`;&|)]+)?\/?\*?$/;
const spare = /^\/(?:tmp|var\/(?:tmp|cache|run|lock)|root\/\.cache|root\/\.npm|dev\/shm)(?:\/|$)/;
const spareOfHome = /^~\/\.(?:cache|npm|m2|gradle|cargo|yarn|local\/share\/Trash)(?:\/|$)/;

/** The target is a root, a home, a system folder or the whole current folder; not a folder that can be rebuilt. */
export function isWholeTree(value: string, { after }: MatchContext): boolean {
  const target = value.charAt(value.length - 1) + (/^[^\s"'`;,&|)<>\\]*/.exec(after)?.[0] ?? '');
  if (target.startsWith('*')) return target === '*';
  if (target.startsWith('$')) return /^\$\{?(?:HOME|PWD|OLDPWD|USER|ROOT)\b/.test(target);
  if (target.startsWith('~')) return !spareOfHome.test(target);
  return /^\/(?:\*|\.\*)?$/.test(target) || (systemFolder.test(target) && !spare.test(target));
}

const runsText =
  /(?:\b(?:ba|z|da|k|a)?sh\b[^;|\r\n]{0,40}|\beval\b[ \t]*\\{0,3}["']?|\bsource[ \t]+|(?:^|[\s;&|])\.[ \t]+)$/;

const isShell = /sh$/;
/** An option that holds a program (`-c ...`, `-m json.tool`), or a script. */
const runsAnother = /^[ \t]+(?:-[\w-]|[\w~$]{0,64}[./])/;

/** The download is executed by a shell, or by an interpreter without another program to run. */
export function isRunAtOnce(value: string, { before, after }: MatchContext): boolean {
  if (/^[$<]/.test(value)) return runsText.test(before);
  return isShell.test(value) ? !after.startsWith('-') : !runsAnother.test(after);
}

/** Both directions of the connection are attached to a shell; a health check only opens one. */
export const isJoinedShell = (_value: string, { before, after }: MatchContext): boolean =>
  /(?:>&|&>|<>)[ \t]*$/.test(before) || /^\w*[ \t]+0<&1/.test(after);

/** A SELECT that is the second half of another union does not count: it is a finding and is redacted itself. */
const secondHalf = /\bunion\b\W+(?:(?:all|distinct)\b\W+)?select\b/gi;

function followsPlainSelect(before: string): boolean {
  const statement = before.slice(Math.max(...[';', "'", '"'].map((end) => before.lastIndexOf(end))) + 1);
  return /\bselect\b/i.test(statement.replace(secondHalf, ''));
}

const injectionEvidence =
  /^[\s+(]*(?:null\b|@@|char\(|concat\(|version\(|\d+\s*,|[^;\r\n]*(?:information_schema|--|#))/i;

/** Appended to another query: not the second half of a statement with its own SELECT before it. */
export const isInjectedUnion = (_value: string, { before, after }: MatchContext): boolean =>
  injectionEvidence.test(after) ? !isPlainScript(before, after) : !followsPlainSelect(before);

/** Numbered columns alone are no evidence in a statement that continues a plain one. */
const isPlainScript = (before: string, after: string): boolean =>
  followsPlainSelect(before) && !/^[^;\r\n]*(?:null|@@|information_schema|--|#)/i.test(after);

/** A statement after the end of a value: on the same line as the quote or the number that ends it. */
export const isPlacedStatement = (_value: string, { before, after }: MatchContext): boolean =>
  /(?:["'`\d]|%27)$/.test(before) || (/\)$/.test(before) && /^[^\r\n]*(?:--|#)/.test(after));

/** Executed by the database; not the setting that disables it, nor the sleep of another language. */
export function runsOnServer(value: string, { before, after }: MatchContext): boolean {
  if (/^xp_/i.test(value)) return !/^["']?\s*,\s*0/.test(after);
  if (/^(?:sleep|benchmark)/i.test(value)) return /\b(?:and|or|select|if|when|then)[\s(+]*$/i.test(before);
  return true;
}

const forbids =
  /\b(?:never|not|don.{1,3}t|dont|cannot|can't|won't|must not|should not|shall not|refuse to|without)\s+(?:\w+\s+)?$/i;
const mentions =
  /\b(?:says?|said|phrases?|such as|like|e\.g\.|example|examples|attacks?|attempts?|patterns?|detects?|words|text|strings?|called|known as|blocks?|finds?|contains?|matches)\b[^.!?\r\n]{0,40}\\?["'`“«‘]$/i;

/** An instruction: not a prohibition, and not a quotation of the phrase alone. */
export function isOrder(_value: string, { before, after }: MatchContext): boolean {
  if (forbids.test(before)) return false;
  return !(/^\\?["'`]/.test(after) && mentions.test(before));
}

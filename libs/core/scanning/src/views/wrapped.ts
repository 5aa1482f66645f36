import type { Budget } from '../budget';
import { ViewBuilder, type View } from './view';

/** Shorter runs hold nothing that any pattern finds. */
const fewestChars = 24;
const headChars = 24;

const inRun = new Uint8Array(256);
/** Characters that stand for six bits of which the first is not set, as in every first byte of plain text. */
const beginsText = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') inRun[char.charCodeAt(0)] = 1;
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef') beginsText[char.charCodeAt(0)] = 1;

/**
 * The texts that stand in the body as base64, one behind the other; undefined when there is none. A picture or an archive
 * is told by its first characters and left alone, and so is text within text.
 *
 * @param text the body with one character a byte
 */
export function unwrapped(body: Uint8Array, text: string, budget: Budget): View | undefined {
  const view = new ViewBuilder();
  // A run of that length has a character at one of these places, whatever it begins at.
  for (let at = fewestChars - 1; at < body.length; at += fewestChars) {
    if (inRun[body[at] ?? 0] !== 1) continue;
    let from = at;
    while (from > 0 && inRun[body[from - 1] ?? 0] === 1) from--;
    let to = at + 1;
    while (to < body.length && inRun[body[to] ?? 0] === 1) to++;
    if (to - from >= fewestChars && mayBeText(body, from)) {
      const decoded = Buffer.from(text.slice(from, to), 'base64').toString('latin1');
      if (isText(decoded)) {
        view.leap();
        view.add(decoded, 'base64', from, to - from);
      }
      if (!budget.spend(to - from)) break;
    }
    // On at the last place within the run.
    at += Math.floor((to - 1 - at) / fewestChars) * fewestChars;
  }
  return view.build();
}

function mayBeText(body: Uint8Array, from: number): boolean {
  for (let at = from; at < from + headChars; at += 4) if (beginsText[body[at] ?? 0] !== 1) return false;
  return true;
}

const isText = (decoded: string): boolean => /^[\t\r\n\x20-\x7e]{16}/.test(decoded);

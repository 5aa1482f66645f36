import type { Budget } from '../budget';
import { ViewBuilder, type View } from './view';

/** Shorter runs are too short for any pattern. */
const fewestChars = 24;
const headChars = 24;

const inRun = new Uint8Array(256);
/** Characters for six bits of which the first is 0, as in every first byte of plain text. */
const beginsText = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') inRun[char.charCodeAt(0)] = 1;
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef') beginsText[char.charCodeAt(0)] = 1;

/**
 * The texts encoded as base64 in the body, concatenated; undefined when there is none. Images and archives are recognized
 * by their first characters and skipped, and nested base64 is not decoded.
 *
 * @param text the body with one character per byte
 */
export function unwrapped(body: Uint8Array, text: string, budget: Budget): View | undefined {
  const view = new ViewBuilder();
  // A run of that length has a character at one of these positions, whatever its offset.
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
    // Continues at the last position within the run.
    at += Math.floor((to - 1 - at) / fewestChars) * fewestChars;
  }
  return view.build();
}

function mayBeText(body: Uint8Array, from: number): boolean {
  for (let at = from; at < from + headChars; at += 4) if (beginsText[body[at] ?? 0] !== 1) return false;
  return true;
}

const isText = (decoded: string): boolean => /^[\t\r\n\x20-\x7e]{16}/.test(decoded);

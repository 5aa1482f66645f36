/** Text next to a match, as latin1: one character per byte. */
export interface MatchContext {
  /** Up to 256 characters. */
  before: string;
  /** Up to 64 characters. */
  after: string;
}
const aroundChars = { before: 256, after: 64 } as const;

/** Text next to `start` and `end`. */
export const getContext = (text: string, start: number, end: number): MatchContext => ({
  before: text.slice(Math.max(0, start - aroundChars.before), start),
  after: text.slice(end, end + aroundChars.after),
});

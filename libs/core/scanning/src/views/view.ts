/** A stretch of a view and where it comes from. */
interface Stretch {
  at: number;
  length: number;
  rawAt: number;
  rawLength: number;
  /** `same`: character for character; `whole`: one thing for another; `base64`: four characters for three. */
  as: 'same' | 'whole' | 'base64';
}

/** What a body says to whoever reads it otherwise than byte by byte: one character a byte, as the body's own text. */
export interface View {
  body: Uint8Array;
  text: string;
  /** Where in the body that is which stands there in the view; undefined for what the body itself shows just so. */
  place(offset: number, length: number): { offset: number; length: number } | undefined;
}

/** Stands between stretches that do not meet in the body: nothing matches over it. */
const gap = '\n\u0000\n';

/** Puts a view together, from the beginning of the body to its end. */
export class ViewBuilder {
  private readonly parts: string[] = [];
  private readonly stretches: Stretch[] = [];
  private length = 0;

  add(text: string, as: Stretch['as'], rawAt: number, rawLength: number): void {
    if (text === '') return;
    this.stretches.push({ at: this.length, length: text.length, rawAt, rawLength, as });
    this.parts.push(text);
    this.length += text.length;
  }

  leap(): void {
    if (this.length === 0) return;
    this.parts.push(gap);
    this.length += gap.length;
  }

  build(): View | undefined {
    if (this.length === 0) return undefined;
    const text = this.parts.join('');
    const { stretches } = this;
    return {
      text,
      body: Buffer.from(text, 'latin1'),
      place(offset, length) {
        const first = stretches[indexAt(stretches, offset)];
        const last = stretches[indexAt(stretches, offset + length - 1)];
        if (!first || !last) return undefined;
        const start = startIn(first, offset - first.at);
        const end = endIn(last, offset + length - last.at);
        // As long as it was: nothing within it reads otherwise, and the body's own text was looked at already.
        return end - start === length ? undefined : { offset: start, length: end - start };
      },
    };
  }
}

/** The last stretch that begins at or before a place. */
function indexAt(stretches: readonly Stretch[], offset: number): number {
  let low = 0;
  let high = stretches.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((stretches[middle]?.at ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function startIn({ as, rawAt }: Stretch, offset: number): number {
  return rawAt + (as === 'same' ? offset : as === 'base64' ? Math.floor(offset / 3) * 4 : 0);
}

function endIn({ as, rawAt, rawLength }: Stretch, offset: number): number {
  if (as === 'whole') return rawAt + rawLength;
  return rawAt + Math.min(as === 'same' ? offset : Math.ceil(offset / 3) * 4, rawLength);
}

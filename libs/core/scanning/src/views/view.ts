/** A range of a view and its range in the body. */
interface Stretch {
  at: number;
  length: number;
  rawAt: number;
  rawLength: number;
  /** `same`: character for character; `whole`: one thing for another; `base64`: four characters for three. */
  as: 'same' | 'whole' | 'base64';
}

/** A decoded reading of a body, with one character per byte. */
export interface View {
  body: Uint8Array;
  text: string;
  /** Maps a range of the view to the body; undefined when the body shows the same text unchanged. */
  place(offset: number, length: number): { offset: number; length: number } | undefined;
}

/** Separates ranges that are not adjacent in the body: nothing matches across it. */
const gap = '\n\u0000\n';

/** Builds a view, from the start of the body to its end. */
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
        // Unchanged length: nothing in it reads differently, and the body itself was scanned already.
        return end - start === length ? undefined : { offset: start, length: end - start };
      },
    };
  }
}

/** The last range that starts at or before a position. */
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

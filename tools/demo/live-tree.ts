import type { TreeLine } from './run-tree';

export interface Screen {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** Shows a changing tree: redrawn in place on a terminal, otherwise one line per change. */
export class LiveTree {
  private drawn: string[] = [];
  private readonly printedKeys = new Map<string, string>();

  constructor(
    private readonly screen: Screen,
    private readonly now: () => string,
  ) {}

  show(lines: readonly TreeLine[]): void {
    // Truncated, because a wrapped line takes two rows and the next redraw would start too low.
    const width = (this.screen.columns ?? 120) - 1;
    if (this.screen.isTTY) this.redraw(lines.map(({ text }) => `    ${text}`.slice(0, width)));
    else this.append(lines);
  }

  /** Later output appears below the tree, and the next tree below that output. */
  leave(): void {
    this.drawn = [];
  }

  private redraw(lines: string[]): void {
    if (lines.join('\n') === this.drawn.join('\n')) return;
    const up = this.drawn.length > 0 ? `\u001b[${this.drawn.length}A\u001b[J` : '';
    this.screen.write(`${up}${lines.join('\n')}\n`);
    this.drawn = lines;
  }

  private append(lines: readonly TreeLine[]): void {
    for (const { path, text, key } of lines) {
      if (this.printedKeys.get(path) !== key) this.screen.write(`    ${this.now()}  ${text}\n`);
      this.printedKeys.set(path, key);
    }
  }
}

import type { TreeLine } from './run-tree';

export interface Screen {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** Shows a tree that changes: drawn anew in place on a terminal, elsewhere line by line as there is something new to tell. */
export class LiveTree {
  private drawn: string[] = [];
  private readonly told = new Map<string, string>();

  constructor(
    private readonly screen: Screen,
    private readonly now: () => string,
  ) {}

  show(lines: readonly TreeLine[]): void {
    // A line that wraps would be two, and the next drawing would begin too low.
    const width = (this.screen.columns ?? 120) - 1;
    if (this.screen.isTTY) this.redraw(lines.map(({ text }) => `    ${text}`.slice(0, width)));
    else this.append(lines);
  }

  /** What is said next stands below the tree, and the tree is drawn below that. */
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
      if (this.told.get(path) !== key) this.screen.write(`    ${this.now()}  ${text}\n`);
      this.told.set(path, key);
    }
  }
}

import type { Peers } from './compare';
import { peersMarkdown, peersText } from './report';

const peers: Peers = {
  peer: 'Restate 1.7.12',
  rows: [
    { name: 'one step', unit: 'per second', product: 2_000, peer: 1_000, ratio: 2 },
    { name: 'three steps', unit: 'ms', product: 12.5, peer: 10, ratio: 1.25 },
  ],
};

describe('the comparison with a peer', () => {
  it('shows both values and their ratio, and what differs in guarantees', () => {
    const [head, one, three, ...differences] = peersText(peers)
      .split('\n')
      .map((line) => line.split(/ {2,}/));

    expect(head).toEqual(['', 'unit', 'product', 'Restate 1.7.12', 'ratio']);
    expect(one).toEqual(['one step', 'per second', '2,000', '1,000', '2.00']);
    expect(three).toEqual(['three steps', 'ms', '12.5', '10', '1.25']);
    expect(differences.join()).toContain('policy');
  });

  it('is a section in Markdown', () => {
    const text = peersMarkdown(peers);

    expect(text).toMatch(/^## Comparison with Restate 1\.7\.12\n/);
    expect(text).toContain('| one step | per second | 2,000 | 1,000 | 2.00 |');
  });
});

import { columns, markdown, number } from '../report';
import { guarantees, type Peers } from './compare';

const lines = ({ peer, rows }: Peers): string[][] => [
  ['', 'unit', 'product', peer, 'ratio'],
  ...rows.map(({ name, unit, product, peer: other, ratio }) => [
    ...[name, unit, number(product), number(other)],
    ratio.toFixed(2),
  ]),
];

/** The comparison as text, with what it does not show. */
export const peersText = (peers: Peers): string =>
  [columns(lines(peers)), ...guarantees.map((difference) => `- ${difference}`)].join('\n');

/** The section of docs/performance.md. */
export const peersMarkdown = (peers: Peers): string => `## Comparison with ${peers.peer}

Measured on the same machine with the same client, one after the other (\`npm run bench -- --peers\`). The ratio is product ÷ ${peers.peer}; above 1 the product has the higher rate, or the longer time. Both have their defaults, except that the product's rate limits are lifted. Handler and worker do the same work.

${markdown(lines(peers))}

${guarantees.map((difference) => `- ${difference}`).join('\n')}
`;

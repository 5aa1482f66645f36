import { ExportMemory, KeptEvents } from './kept-events';

const event = (seq: number) => ({ id: `1-${seq}`, text: 'x'.repeat(488), hash: '', hmac: '' });
const BYTES = 1_000;

describe('the memory of exports', () => {
  it('keeps the first events, in order, until it is full', () => {
    const kept = new KeptEvents(new ExportMemory(3 * BYTES));
    for (let seq = 1; seq <= 10; seq++) kept.add(event(seq));

    expect([...kept.next(2), ...kept.next(2)].map(({ id }) => id)).toEqual(['1-1', '1-2', '1-3']);
    // An event after a gap would be written in the wrong place.
    kept.add(event(11));
    expect(kept.next(1)).toEqual([]);
  });

  it('is shared by all exports, and given back when events are written or an export ends', () => {
    const memory = new ExportMemory(3 * BYTES);
    const first = new KeptEvents(memory);
    for (let seq = 1; seq <= 3; seq++) first.add(event(seq));
    const room = () => {
      const probe = new KeptEvents(memory);
      for (let seq = 1; seq <= 5; seq++) probe.add(event(seq));
      const found = probe.next(5).length;
      probe.release();
      return found;
    };

    expect(room()).toBe(0);
    first.next(1);
    expect(room()).toBe(1);
    first.release();
    first.release();
    expect(room()).toBe(3);
  });
});

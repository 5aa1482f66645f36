import { EndOfTurn } from './end-of-turn';

describe('batching per turn', () => {
  const sent: string[] = [];
  beforeEach(() => sent.splice(0));
  const turn = () => new Promise<void>((resume) => setImmediate(resume));

  it('sends collected messages together, in order, once', async () => {
    const outgoing = new EndOfTurn();
    outgoing.add(() => sent.push('a'));
    await Promise.resolve();
    outgoing.add(() => sent.push('b'));
    expect(sent).toEqual([]);

    await turn();
    await turn();

    expect(sent).toEqual(['a', 'b']);
  });

  it('sends messages added while sending with the next turn', async () => {
    const outgoing = new EndOfTurn();
    outgoing.add(() => outgoing.add(() => sent.push('next')));

    await turn();
    expect(sent).toEqual([]);
    await turn();

    expect(sent).toEqual(['next']);
  });

  it('can be flushed immediately', () => {
    const outgoing = new EndOfTurn();
    outgoing.add(() => sent.push('a'));

    outgoing.flush();

    expect(sent).toEqual(['a']);
  });
});

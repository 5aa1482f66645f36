import { EndOfTurn } from './end-of-turn';

describe('what is sent at the end of a turn', () => {
  const sent: string[] = [];
  beforeEach(() => sent.splice(0));
  const turn = () => new Promise<void>((resume) => setImmediate(resume));

  it('goes out together, in the order it was said, once', async () => {
    const outgoing = new EndOfTurn();
    outgoing.add(() => sent.push('a'));
    await Promise.resolve();
    outgoing.add(() => sent.push('b'));
    expect(sent).toEqual([]);

    await turn();
    await turn();

    expect(sent).toEqual(['a', 'b']);
  });

  it('said while sending goes with the next turn', async () => {
    const outgoing = new EndOfTurn();
    outgoing.add(() => outgoing.add(() => sent.push('next')));

    await turn();
    expect(sent).toEqual([]);
    await turn();

    expect(sent).toEqual(['next']);
  });

  it('can be asked for at once', () => {
    const outgoing = new EndOfTurn();
    outgoing.add(() => sent.push('a'));

    outgoing.flush();

    expect(sent).toEqual(['a']);
  });
});

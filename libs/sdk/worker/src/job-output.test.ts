import { eventually } from '@svc/testing';
import { JobOutput, type OutputReport } from './job-output';

describe('log lines and partial output', () => {
  const sent: OutputReport[] = [];
  let shown: JobOutput;
  beforeEach(() => {
    sent.length = 0;
    shown = new JobOutput((report) => void sent.push(report));
  });
  afterEach(() => shown.flush());

  it('parts are sent together, and a word in one piece', async () => {
    for (const token of ['The sh', 'ip is ', 'sk-12', '34']) shown.write(token);
    shown.log('found', 'warn');

    await eventually(() => expect(sent).toHaveLength(1));
    expect(sent).toMatchObject([
      { output: 'The ship is ', output_offset: 0, logs: [{ level: 'warn', message: 'found' }] },
    ]);
    shown.write('56 end');
    shown.flush();
    expect(sent.slice(1)).toEqual([{ output: 'sk-123456 end', output_offset: 12, logs: [] }]);
  });

  it('a long text without spaces is sent in parts of bounded size', () => {
    shown.write('x'.repeat(40_000));
    shown.flush();

    expect(sent.map(({ output, output_offset }) => [output.length, output_offset])).toEqual([
      [16_384, 0],
      [16_384, 16_384],
      [7_232, 32_768],
    ]);
  });

  it('no character is divided between two parts', () => {
    shown.write(`${'x'.repeat(16_383)}😀`);
    shown.flush();

    expect(sent.map(({ output, output_offset }) => [output.slice(-2), output_offset])).toEqual([
      ['xx', 0],
      ['😀', 16_383],
    ]);
  });

  it('an incomplete word is sent after a while', async () => {
    shown.write('word');

    await eventually(() => expect(sent).toMatchObject([{ output: 'word' }]));
  });
});

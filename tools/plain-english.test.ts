import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { wordingFinder } from './plain-english/find-wordings';
import { exceptions, wordings } from './plain-english/patterns';

const root = resolve(__dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString('utf8')
  .split('\n')
  .filter((file) => /\.(ts|mjs|cjs|lua|md|proto|py)$/.test(file) && !/\/generated\/|^tools\/plain-english/.test(file))
  .filter((file) => existsSync(join(root, file)));

describe('names and texts in plain English', () => {
  it('use the wording of the field', () => {
    const findings = files.flatMap((file) => findWordings(file, read(file)));

    const isTolerated = (wording: (typeof wordings)[number]) =>
      findings.filter((finding) => finding.wording === wording).length <= (wording.remaining ?? 0);
    const reported = findings.filter(({ wording }) => !isTolerated(wording));
    expect(
      reported.map(({ file, line, found, wording }) => `${file}:${line}: "${found}": write ${wording.write}`),
    ).toEqual([]);
  });

  it.each([
    ['src/a.ts', 'const told = 1;', ['told']],
    ['src/a.ts', 'tellOutput(); isCarried(); alerts_told', ['tell', 'told', 'Carried']],
    ['src/a.ts', '/** Jobs are handed\n * out by lane. */', ['handed * out']],
    ['src/hand-out.ts', '', ['hand-out']],
    ['src/a.ts', 'new HandOut()', ['HandOut']],
    ['src/a.ts', 'const mostTries = 3; // at most three', ['mostTries']],
    ['src/a.ts', 'interface Held {}\ninterface HeldJob {}', ['interface Held']],
    ['src/a.ts', 'const viewOf = (job: Job) => 1;\nconst { allOf } = schema;', ['const viewOf']],
    ['docs/architecture.md', 'UDP stands for a protocol. It stands in a lane.', ['stands']],
    ['docs/architecture.md', 'satellite, storytelling, amendment', []],
  ])('finds what it must in %s: %s', (file, text, expected) => {
    expect(findWordings(file, text).map(({ found }) => found)).toEqual(expected);
  });

  it('reports the line', () => {
    expect(findWordings('src/a.ts', 'const a = 1;\nconst told = 2;')).toMatchObject([{ line: 2 }]);
  });

  it('has no exception that is not needed', () => {
    const unused = exceptions.filter(
      ({ in: start = '', text }) => !files.some((file) => file.startsWith(start) && read(file).search(text) >= 0),
    );

    expect(unused).toEqual([]);
  });
});

const findWordings = wordingFinder(wordings, exceptions);

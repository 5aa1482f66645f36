import fc from 'fast-check';
import { RE2JS } from 're2js';
import { parseScanners } from './parse-scanners';
import { redact } from './redact';
import { samples, unmark } from './samples.testing';
import { maxFindings, scan, type ScanRequest } from './scan';
import { builtInScanners, type ScannerSet } from './scanner-set';

const all = { scanners: ['secret', 'pii', 'injection'] };
const windowBytes = 64 * 1024;
const look = (text: string | Uint8Array, request: ScanRequest = all, set = builtInScanners, limits = {}) =>
  scan(typeof text === 'string' ? Buffer.from(text) : text, request, set, limits);
const found = (...of: Parameters<typeof look>) => look(...of).findings.map((each) => each.matched_pattern);
const pattern = (source: string, name?: string) => ({
  patterns: [{ source, regex: RE2JS.compile(source), ...(name !== undefined && { name }) }],
});
const placed = (...of: Parameters<typeof look>) => look(...of).findings.map(({ offset, length }) => [offset, length]);

function compileFile(scanner: string, ...patterns: string[]): ScannerSet {
  const text = `version: v1\nscanners:\n  ${scanner}:\n    finding_type: custom\n    patterns:\n`;
  const parsed = parseScanners(text + patterns.map((each) => `      - ${each}\n`).join(''), { source: 's.yaml' });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.scanners;
}
const entry = (name: string, regex: string, more = 'context_required: false') =>
  `{name: ${name}, regex: '${regex}', severity: low, confidence: medium, ${more}}`;

describe('requested findings', () => {
  const both = `mail a@b.co <|im_start|> sk-${'a1'.repeat(20)}`;

  it.each<[ScanRequest, string[]]>([
    [{}, []],
    [{ scanners: ['pii'] }, ['email']],
    [{ scanners: ['injection'] }, ['prompt_template_token']],
    [{ scanners: ['code_injection'] }, ['prompt_template_token']],
    [{ detectors: ['secret_leak'] }, ['model_provider_key']],
    [{ detectors: ['code_injection', 'pii'] }, ['email', 'prompt_template_token']],
    [{ detectors: ['custom'], scanners: ['nose'] }, []],
    [{ keywords: ['MAIL', 'b.CO'] }, ['keyword_1', 'keyword_2']],
    [pattern('i[a-z]_s'), ['pattern_1']],
    [pattern('i[a-z]_s', 'start'), ['start']],
  ])('%j finds %j', (request, expected) => {
    expect(found(both, request)).toEqual(expected);
  });

  it('a finding names the pattern and never contains the matched text', () => {
    const secret = `gh${'p_'}${'Zq7'.repeat(12)}`;

    const { findings } = look(`é ${secret}`);

    expect(findings).toEqual([
      {
        type: 'secret_leak',
        severity: 'critical',
        detail: 'secret: github token',
        scanner: 'secret',
        confidence: 0.95,
        matched_pattern: 'github_token',
        offset: 3,
        length: 40,
      },
    ]);
  });

  it("a file's scanner replaces the built-in one of its name and keeps the others, and `custom` finds its type", () => {
    const set = compileFile('secret', entry('badge', 'DOCK-[A-Z0-9]{4}'));

    expect(found('DOCK-A1B2 a@b.co', all, set)).toEqual(['badge', 'email']);
    expect(found('DOCK-A1B2 a@b.co', { detectors: ['custom'] }, set)).toEqual(['badge']);
    expect(found(`gh${'p_'}${'Zq7'.repeat(12)}`, all, set)).toEqual([]);
  });

  it('keywords of any alphabet are case-insensitive and also match within words', () => {
    expect(placed('x ÜBERGANG', { keywords: ['übergang', ''] })).toEqual([[2, 9]]);
    expect(placed('classified', { keywords: ['CLASS', 'fied'] })).toEqual([
      [0, 5],
      [6, 4],
    ]);
  });
});

describe('a related word', () => {
  const set = compileFile('secret', entry('dock_badge', 'B[0-9]{4}', 'context_required: true'));
  const filler = (chars: number) => ' '.repeat(chars);

  it.each([
    ['before, at the edge', `token${filler(59)}B1234`, true],
    ['before, too far', `token${filler(60)}B1234`, false],
    ['behind, at the edge', `B1234${filler(59)}token`, true],
    ['behind, too far', `B1234${filler(60)}token`, false],
    ['behind many-byte characters', `token${'日'.repeat(59)}B1234`, true],
    ['before too many of them', `token${'日'.repeat(60)}B1234`, false],
    ["of the pattern's own name", 'the badge B1234', true],
    ['that is only the tail of another', 'monkey B1234', false],
    ['of nothing', 'B1234', false],
  ])('%s', (_, text, counts) => {
    expect(found(text, all, set)).toEqual(counts ? ['dock_badge'] : []);
  });
});

describe('positions', () => {
  it.each<[string, Uint8Array, number]>([
    ['text of many-byte characters', Buffer.from('日本語 ÿ 😀 a@b.co'), 18],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from([0xff, 0xc3, 0xe2, 0x82, 0x20]), Buffer.from('a@b.co')]),
      5,
    ],
    ['a view into a larger buffer', Buffer.from('xxxx a@b.co').subarray(4), 1],
  ])('offsets are bytes: %s', (_, body, offset) => {
    expect(placed(body)).toEqual([[offset, 6]]);
    expect(placed(body, pattern('a@b'))).toEqual([[offset, 3]]);
    expect(placed(body, { keywords: ['A@B'] })).toEqual([[offset, 3]]);
  });

  it('a match across a window boundary is found once', () => {
    const own = compileFile('secret', entry('badge', '\\bDOCK-[A-Z0-9]{20}\\b'));
    const secret = `gh${'p_'}${'Zq7'.repeat(12)} DOCK-${'A1'.repeat(10)} end`;
    for (let shift = -80; shift <= 8; shift += 4) {
      for (const boundary of [windowBytes, windowBytes - 8 * 1024, 2 * windowBytes]) {
        const body = `${'é '.repeat((boundary + shift) / 3)}${'.'.repeat((boundary + shift) % 3)} `;
        const text = `${body}${secret}${' .'.repeat(windowBytes)}`;
        const at = Buffer.byteLength(body);

        expect(placed(text, { scanners: ['secret'], ...pattern('Zq7+ DOCK') }, own)).toEqual([
          [at + 37, 8],
          [at + 41, 25],
        ]);
        expect(placed(text, { scanners: ['secret'] })).toEqual([[at, 40]]);
      }
    }
  });

  it('a match longer than the overlap of windows is found whole', () => {
    const key = `-----BEGIN ${'PRIVATE KEY'}-----\n${`${'Ab3/'.repeat(16)}\n`.repeat(400)}-----END ${'PRIVATE KEY'}-----`;
    const text = `${'x '.repeat(windowBytes / 2 - 4_500)}${key} tail${' .'.repeat(windowBytes)}`;

    expect(placed(text)).toEqual([[windowBytes - 9_000, key.length]]);
    expect(placed(text, pattern('-----BEGIN[^.]*'))).toEqual([[windowBytes - 9_000, key.length + 6]]);
  });

  it('window edges do not match as the start or end of the text', () => {
    const text = 'ab '.repeat(windowBytes);

    expect(placed(text, pattern('^ab'))).toEqual([[0, 2]]);
    expect(placed(text, pattern('b $'))).toEqual([[text.length - 2, 2]]);
  });
});

describe('limits', () => {
  it('only the first bytes are scanned, and the result is marked truncated', () => {
    const text = `${'.'.repeat(100)} a@b.co`;

    expect(look(text, all, builtInScanners, { maxBytes: 50 })).toEqual({
      findings: [],
      scannedBytes: 50,
      truncated: true,
      overrun: false,
    });
    expect(look(text)).toMatchObject({ scannedBytes: 107, truncated: false });
    expect(look('x'.repeat(2_097_153))).toMatchObject({ scannedBytes: 2_097_152, truncated: true });
  });

  it('at the deadline the scan stops, keeps its findings and reports the overrun', () => {
    let asked = 0;
    const expired = () => ++asked === 2;

    const { findings, overrun } = look(`a@b.co ${'. '.repeat(windowBytes * 4)} c@d.co`, all, builtInScanners, {
      expired,
    });

    expect({ asked, overrun, found: findings.length }).toEqual({ asked: 2, overrun: true, found: 1 });
  });

  it('beyond the maximum number of findings the last one covers the rest of the body', () => {
    const text = 'a@b.co '.repeat(maxFindings + 10);
    const { findings } = look(text);
    const clean = Buffer.from(redact(Buffer.from(text), findings)).toString();

    expect(findings).toHaveLength(maxFindings);
    expect(clean).toBe('[REDACTED] '.repeat(maxFindings - 1) + '[REDACTED]');
  });

  it('a body full of findings is one finding', () => {
    const text = 'a@b.co '.repeat(100_000);

    expect(placed(text)).toEqual([[0, text.length]]);
  });
});

describe('hostile text', () => {
  const most = 400_000;
  /** Number of windows of work in a scan. */
  const work = (text: string, request: ScanRequest = all, set = builtInScanners) => {
    let asked = 0;
    look(text, request, set, { expired: () => ++asked < 0 });
    return asked;
  };

  it.each([
    'a',
    '1',
    '1 ',
    '4111 ',
    '@',
    'a@',
    'a@a.',
    'eyJ',
    '.eyJ',
    'eyJ-.',
    'password=',
    'password:a1',
    'secretkey',
    '-----BEGIN ',
    'postgres://a:',
    'server=a;',
    'rm -a ',
    'curl x',
    'nc -e',
    "' or ",
    'ignore all ',
    '; drop ',
    '+1 1',
  ])('a long run of %j takes linear work', (bait) => {
    const text = (chars: number) => bait.repeat(Math.ceil(chars / bait.length)).slice(0, chars);

    const [half, whole] = [work(text(most / 2)), work(text(most))];

    expect(whole).toBeLessThanOrEqual(half * 2 + 2);
    expect(whole).toBeLessThan((most / windowBytes) * 80);
  });

  it.each(['(a+)+$', '(a|aa)+b', '(a*)*c', '\\w+'])("a file's %s does too", (regex) => {
    const set = compileFile('secret', entry('zzz', regex, 'context_required: true'));
    const count = (chars: number) => work('a'.repeat(chars), all, set);

    expect(count(most)).toBeLessThanOrEqual(count(most / 2) * 2 + 4);
  });
});

describe('after redaction', () => {
  const texts = samples.flatMap(({ found: marked }) => marked.map((each) => unmark(each).text));
  const noise = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('\n', ' é ', ', ', '"', '}'));
  const body = fc.array(fc.tuple(noise, fc.constantFrom(...texts)), { maxLength: 8 });

  /** Patterns whose match depends on its context. */
  const excusable = new Set(
    builtInScanners.fast.flatMap(({ label, check, context }) => ((check ?? context) ? [label.matched_pattern] : [])),
  );

  it('a second union after a first one is removed too, since the first does not excuse it', () => {
    const bytes = Buffer.from("x' UNION ALL SELECT name  union\nselect 1");

    expect(placed(redact(bytes, look(bytes).findings))).toEqual([]);
  });

  it('the same scan finds nothing, after at most one more redaction', () => {
    fc.assert(
      fc.property(body, (parts) => {
        const bytes = Buffer.from(parts.flat().join(' '));
        const { findings } = look(bytes);

        const once = redact(bytes, findings);
        // A redacted finding may have been the excuse of another one, which then is found too.
        const more = look(once).findings;
        const twice = redact(once, more);

        expect(more.filter(({ matched_pattern: name }) => !excusable.has(name))).toEqual([]);
        expect(placed(twice)).toEqual([]);
        for (const { offset, length } of findings) {
          const gone = bytes.subarray(offset, offset + length);
          if (length > 12) expect(Buffer.from(twice).includes(gone)).toBe(false);
        }
      }),
      {
        numRuns: 1_000,
        // The first one's SELECT does not excuse the second.
        examples: [
          [
            [
              ['', "x' UNION ALL SELECT name"],
              ['', 'union\nselect 1'],
            ],
          ],
        ],
      },
    );
  });
});

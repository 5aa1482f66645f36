/** Wording that the code does not use, in names and in texts, with the wording to use instead. */
export interface Wording {
  /** Words in lower case; also found capitalized, in camelCase names, in kebab-case file names, and across a line break. */
  words?: readonly string[];
  /** For a shape that is not a list of words. */
  shape?: RegExp;
  /** A pattern that follows words in correct use, such as ` for` in "stands for". */
  unlessFollowedBy?: string;
  write: string;
  /** Occurrences that remain from before; their number may only fall. */
  remaining?: number;
}

const eachOf = (verbs: readonly string[], ends: readonly string[]): string[] =>
  verbs.flatMap((verb) => ends.map((end) => `${verb} ${end}`));

export const wordings: readonly Wording[] = [
  // Verbs
  {
    words: ['tell', 'tells', 'telling', 'told'],
    write: 'notify, report, publish or send; distinguish for "tell apart"',
  },
  { words: ['said', 'unsaid', 'sayIn'], write: 'reported, stated or posted' },
  { words: ['hear', 'hears', 'hearing', 'heard'], write: 'receive; for functions, handleX' },
  { words: ['deaf'], write: 'busDisconnected' },
  { words: ['mend', 'mends', 'mending', 'mended'], write: 'repair' },
  {
    words: ['carry', 'carries', 'carrying', 'carried', 'recarry'],
    write: 'contain, have or include; enqueue for queue entries; perform for "carry out"',
  },
  {
    words: ['stand', 'stands', 'stood', 'standing'],
    unlessFollowedBy: '(?: for| alone| still|-in|Alone|By)',
    write: 'be in, run on, be stored in; position for `standing`',
  },
  {
    words: eachOf(['hand', 'hands', 'handed', 'handing', 'give', 'gives', 'gave', 'given', 'giving'], ['out']),
    write: 'dispatch, assign or allocate',
  },
  {
    words: eachOf(['look', 'looks', 'looked', 'looking'], ['at', 'into', 'again']),
    write: 'check, read or scan; retry later for "look again"',
  },
  { words: eachOf(['go', 'goes', 'going', 'went'], ['on']), write: 'continue; then' },
  { words: eachOf(['give', 'gives', 'gave', 'giving'], ['way']), write: 'yield' },
  { words: eachOf(['come', 'comes', 'came', 'coming'], ['round']), write: 'arrive' },
  {
    words: eachOf(['is', 'are', 'be', 'was', 'were', 'been'], ['away']),
    write: 'unavailable, unreachable or disconnected',
  },
  { words: eachOf(['is', 'are', 'be', 'was', 'were'], ['no more']), write: 'no longer exists' },
  { words: ['born', 'birth', 'births'], write: 'created; initial for states' },
  { words: ['foresee', 'foresight', 'outlook'], write: 'simulate, dry run, forecast' },
  // Persons in place of a noun
  { words: ['nobody', 'somebody'], write: 'the noun: no caller, another client, an unknown key, anonymous' },
  { words: ['whoever', 'whomever'], write: 'the noun: callers who, any client that' },
  // Phrases
  { words: ['what becomes of'], write: 'the action or outcome for' },
  { words: eachOf(['count', 'counts'], ['for nothing']), write: 'is ignored' },
  { words: ['for want of'], write: 'for lack of' },
  { words: ['to be had', 'be had', 'none was had'], write: 'unavailable' },
  { words: ['all the same'], write: 'still' },
  { words: ['anew'], write: 'again' },
  { words: ['meanwhile'], write: 'concurrently, in between, during' },
  { words: ['at hand'], write: 'available' },
  // Names
  { shape: /(?<![A-Za-z])most(?=[A-Z])\w*/, write: 'maxX or MAX_X, for a limit' },
  { words: ['bad end', 'end badly'], write: 'failureWrites, failJob' },
  { words: ['open door'], write: 'admitAll' },
  { words: ['pictured'], write: 'snapshot' },
  { words: ['misfit', 'unfit'], write: 'mismatch, rejection' },
  {
    shape:
      /\b(?:interface|type|class) (?:Held|Told|Heard|Asked|Brought|Begun|Described|Around|Surroundings|Place|Of|At|Word|Taken|TurnOf|Keeper|Announcer)\b(?! *[,}])/,
    write: 'a noun that says what the type holds, such as QueueEntry, ConfigScope, StepContext',
  },
  {
    shape: /\b(?:function|const) [a-z]\w*Of(?= *(?:\(|<|= *(?:async *)?(?:\(|<|\w+ *=>)))/,
    write: 'a verb: toJobView, buildRequest, getConfig, findWorker',
    remaining: 15,
  },
];

/** Texts that cannot change, or are not ours. */
export interface Exception {
  /** Start of the paths it holds for; every file unless given. */
  in?: string;
  text: RegExp;
  because: string;
}

export const exceptions: readonly Exception[] = [
  {
    in: 'docs/scanning.md',
    text: /Orders to a model to .*? told/,
    because: 'the words of prompts that detectors search for',
  },
  {
    in: 'libs/core/scanning/',
    text: /.*(?:regex: `|\btell (?:me|your)\b|\(\?:says\?\|said|'birth').*/,
    because: 'the words of prompts and documents that detectors search for',
  },
  {
    in: 'libs/kits/kernel-client/src/local/output-check.test.ts',
    text: /tell no one/,
    because: 'the text of a scanned output',
  },
  {
    in: 'tools/bench/measures/scan.ts',
    text: /'and nobody moors.*/,
    because: 'the text of a scanned output; other words would change the measurement',
  },
  { text: /\bthis cannot be done as things stand\b/, because: 'the message of an error code' },
  {
    text: /\bsvc_workflow_mended_total\b|\bmetrics\.mended\b|^ {2}mended: \{$/m,
    because: 'the name of a metric, and its key',
  },
  { text: /\btold:(?=[\w'<])|\bcost_told\b/, because: 'fields of a spend record in Redis' },
  {
    text: /'(?:go_on|give_way|gave_way)'|`(?:go_on|give_way|gave_way)`|\| +gave_way +\|/,
    because: 'arguments and replies of the script closePass',
  },
];

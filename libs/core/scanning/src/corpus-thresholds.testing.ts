interface Least {
  precision: number;
  recall: number;
}

const ofAll: Least = { precision: 0.95, recall: 0.95 };

/** What a detector must reach on the corpus, where it is not what is asked of all, and why. */
const exceptions: Readonly<Record<string, Least & { because: string }>> = {
  'injection/prompt_override': {
    precision: 0.95,
    recall: 0.9,
    because: 'other languages than English, and orders that name no earlier ones, are labelled and not looked for',
  },
};

/** @param name scanner and detector, as in `pii/email` */
export const leastOf = (name: string): Least & { because?: string } => exceptions[name] ?? ofAll;

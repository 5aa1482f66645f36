interface Least {
  precision: number;
  recall: number;
}

const ofAll: Least = { precision: 0.95, recall: 0.95 };

/** Thresholds of a detector on the corpus that differ from the default, and why. */
const exceptions: Readonly<Record<string, Least & { because: string }>> = {
  'injection/prompt_override': {
    precision: 0.95,
    recall: 0.9,
    because: 'languages other than English, and orders that name no earlier ones, are in the corpus but not detected',
  },
};

/** @param name scanner and detector, as in `pii/email` */
export const getThreshold = (name: string): Least & { because?: string } => exceptions[name] ?? ofAll;

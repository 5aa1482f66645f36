/** A secret that is stored in one place and searched for in all others. */
export interface Canary {
  /** Place where it was stored. */
  place: string;
  text: string;
}

/** Generates canaries: unique random text that no secret masker recognizes. */
export function canaries() {
  const made: Canary[] = [];
  return {
    made: made as readonly Canary[],
    /** @returns the text to store; the same for the same place */
    of(place: string): string {
      const known = made.find((canary) => canary.place === place);
      if (known) return known.text;
      const text = `Canary${(made.length + 1).toString().padStart(3, '0')}Zx9Rf4Wb8Tn6`;
      made.push({ place, text });
      return text;
    },
  };
}

/** Leaks found, as `<place of the canary> in <location>: <surrounding text>`. */
export function leaks(
  where: string,
  bytes: string | Uint8Array,
  made: readonly Canary[],
  isAllowed: (place: string) => boolean = () => false,
): string[] {
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1');
  return made.flatMap(({ place, text: secret }) => {
    const form = buildForms(secret).find((one) => text.includes(one));
    if (form === undefined || isAllowed(place)) return [];
    const at = text.indexOf(form);
    return [`${place} in ${where}: …${JSON.stringify(text.slice(Math.max(0, at - 80), at + form.length + 40))}…`];
  });
}

/** The secret in plain form and in base64, where the alignment within three bytes yields three forms. */
function buildForms(secret: string): string[] {
  const within = [0, 1, 2].map((shift) => {
    const coded = Buffer.from('x'.repeat(shift) + secret)
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters also encode bits of adjacent bytes.
    return coded.slice(shift === 0 ? 0 : shift + 1, -1);
  });
  return [secret, ...within];
}

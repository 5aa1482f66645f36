/** Something secret, put in one place and looked for in all others. */
export interface Canary {
  /** Where it was put. */
  place: string;
  text: string;
}

/** Makes canaries: each says nothing, looks like no secret that a masker would know, and is found nowhere by chance. */
export function canaries() {
  const made: Canary[] = [];
  return {
    made: made as readonly Canary[],
    /** @returns the text to put there; the same for the same place */
    of(place: string): string {
      const known = made.find((canary) => canary.place === place);
      if (known) return known.text;
      const text = `Canary${(made.length + 1).toString().padStart(3, '0')}Zx9Rf4Wb8Tn6`;
      made.push({ place, text });
      return text;
    },
  };
}

/** What was found where it must not be, as `<place of the canary> in <where>: <around it>`. */
export function leaks(
  where: string,
  bytes: string | Uint8Array,
  made: readonly Canary[],
  isAllowed: (place: string) => boolean = () => false,
): string[] {
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1');
  return made.flatMap(({ place, text: secret }) => {
    const form = formsOf(secret).find((one) => text.includes(one));
    if (form === undefined || isAllowed(place)) return [];
    const at = text.indexOf(form);
    return [`${place} in ${where}: …${JSON.stringify(text.slice(Math.max(0, at - 80), at + form.length + 40))}…`];
  });
}

/** As it is, and within base64, where the place within a group of three bytes makes three forms. */
function formsOf(secret: string): string[] {
  const within = [0, 1, 2].map((shift) => {
    const coded = Buffer.from('x'.repeat(shift) + secret)
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters also hold bits of what stands beside it.
    return coded.slice(shift === 0 ? 0 : shift + 1, -1);
  });
  return [secret, ...within];
}

/** Metadata key of a run: identity of the author of the definition version. */
export const definitionAuthor = 'definition_author';

/** Names that a search's name parameter is likely to have, likeliest first. */
const candidates = ['name', 'query', 'q', 'full_name', 'search', 'search_term', 'term', 'entity_name', 'fullName'];

const namings = [
  /["'`]([A-Za-z]\w{0,39})["'`]/g,
  /(?:\bat|\bparameter|\bfield|\bproperty|\bmissing|\brequired):?\s+([A-Za-z]\w{0,39})/gi,
  /\b([A-Za-z]\w{0,39}):?(?: parameter| field)? (?:is|must|can't|cannot|may not|should)\b/gi,
];

function listTexts(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`"${key}"`, ...listTexts(inner, depth + 1)]);
}

/** The likely field that the refusal of a search without a name complains of, or undefined; a guess to be tried, never a proof. */
export function guessNameField(refusal: unknown): string | undefined {
  const text = listTexts(refusal).join('\n');
  const named = namings.flatMap((pattern) => [...text.matchAll(pattern)].map(([, word = '']) => word));
  const folded = named.map((word) => candidates.find((each) => each.toLowerCase() === word.toLowerCase()));
  return folded.find((word) => word !== undefined);
}

/** The fields to try in order: the configured one, what a refusal named, then the likely ones. */
export const listNameFields = (configured: string, guessed: string | undefined): string[] => [
  ...new Set([configured, ...(guessed === undefined ? [] : [guessed]), ...candidates]),
];

/** A record's body as it may be kept. */
export interface KeptRecord {
  /** JSON as received, each withheld link replaced. */
  body: string;
  withheldLinks: number;
  /** The ids of the wanted form that it names, in order. */
  namedIds: readonly string[];
}

/** What stands in the place of a link that is not kept. */
export const withheldLink = '[link not kept]';

// A string of JSON, and the colon that makes it a name.
const texts = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs;

/**
 * Takes from a JSON text what must not be stored: whatever stands under the name `url`, which the interface says is presigned (interface:
 * Dossier detail), and every other link with parameters. All else stays as it came, byte for byte.
 */
export function readRecord(body: string, isNamed: (text: string) => boolean): KeptRecord {
  const namedIds = new Set<string>();
  let withheldLinks = 0;
  let name = '';
  const kept = body.replace(texts, (token: string, raw: string, colon: string | undefined) => {
    const text = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
    if (colon !== undefined) name = text;
    else if (isNamed(text)) namedIds.add(text);
    const isPresigned = colon === undefined && name.toLowerCase() === 'url' && text !== '';
    const shown = isPresigned ? withheldLink : withholdLinks(text);
    if (shown === text) return token;
    withheldLinks += 1;
    return `${JSON.stringify(shown)}${colon ?? ''}`;
  });
  return { body: kept, withheldLinks, namedIds: [...namedIds] };
}

/** The text with each word replaced that is a link with parameters. */
function withholdLinks(text: string): string {
  if (!text.includes('?')) return text;
  return text
    .split(/(\s+)/)
    .map((word) => (isOpenLink(word) ? withheldLink : word))
    .join('');
}

function isOpenLink(word: string): boolean {
  const question = word.indexOf('?');
  return question > 0 && word.includes('/') && word.indexOf('=', question) > question;
}

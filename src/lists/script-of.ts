const scripts = [
  'Latin',
  'Arabic',
  'Cyrillic',
  'Han',
  'Hangul',
  'Hiragana',
  'Katakana',
  'Hebrew',
  'Greek',
  'Devanagari',
  'Bengali',
  'Thai',
  'Georgian',
  'Armenian',
  'Myanmar',
  'Khmer',
  'Tamil',
].map((name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, 'gu') }));

/** The script in which most letters of a name are written; `Other` when it is none of the usual ones. */
export function scriptOf(name: string): string {
  const counts = scripts.map(({ name: script, letter }) => ({ script, letters: name.match(letter)?.length ?? 0 }));
  const most = counts.reduce((best, next) => (next.letters > best.letters ? next : best), {
    script: 'Other',
    letters: 0,
  });
  return most.script;
}

/** So many names that nobody has and that no search takes for one another; always the same. */
export function makeOddNames(count: number): string[] {
  let state = 20261121;
  const pick = (choices: string): string => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return choices.charAt((state >>> 8) % choices.length);
  };
  const makeWord = (): string => {
    const syllables = Array.from({ length: 4 }, () => `${pick('bdfgklmnprstvz')}${pick('aeiou')}`);
    const word = `${syllables.join('')}${pick('lnrstx')}`;
    return word.charAt(0).toUpperCase() + word.slice(1);
  };
  return Array.from({ length: count }, () => `${makeWord()} ${makeWord()}`);
}

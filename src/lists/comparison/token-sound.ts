const spellings: readonly (readonly [RegExp, string])[] = [
  // The Arabic article within a name takes the sound of the letter after it, in some spellings only: Abdulrahman, Abdurrahman.
  [/^a?bd(?:[aeiou]l?|l)(?=[b-df-hj-np-tv-z])/g, 'abdu'],
  [/(?<=..)[aeiou]{1,2}[ld]?d(?=[ie]{1,2}n)/g, 'ud'],
  [/ph/g, 'f'],
  [/(?:s?ch|tch|tsch|sh|sz|cz|[ct]s(?=h))/g, 'x'],
  [/(?:dzh|dj|zh|j)/g, 'j'],
  [/(?:kh|gh)/g, 'k'],
  [/([bdt])h/g, '$1'],
  [/c(?=[eiy])/g, 's'],
  [/(?:ck|[cq])/g, 'k'],
  [/z/g, 's'],
  [/w/g, 'v'],
  [/(?:ou|oo|o)/g, 'u'],
  [/(?:ee|ie|ei|ey|y|e)/g, 'i'],
  [/ai|ay|ae/g, 'i'],
  [/g/g, 'k'],
  [/(.)\1+/g, '$1'],
  [/(?<=.)h$/g, ''],
];

/** Spells a word as it sounds, so that usual transliterations of one name come out alike; figures stay. */
export function toSound(text: string): string {
  return spellings.reduce((sound, [pattern, replacement]) => sound.replace(pattern, replacement), text);
}

/** The consonants of a sound. */
export function toSkeleton(sound: string): string {
  return sound.replace(/[aeiouv]/g, '').replace(/(.)\1+/g, '$1');
}

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

/** What a script without vowels writes beside each other or not at all: Arabic has no p and no v, Hebrew one letter for p and f. */
const labials = /[bpfv]/g;

/** The consonants of a sound without those for which scripts without vowels have no letter of their own. */
export const toBareSkeleton = (sound: string): string =>
  toSkeleton(sound)
    .replace(labials, '')
    .replace(/(.)\1+/g, '$1');

/** Whether two sounds have the same consonants when b, p, f and v are one; a v may also be a vowel. */
export function isSameInConsonants(left: string, right: string): boolean {
  return agree(toConsonants(left), toConsonants(right), 0, 0);
}

const toConsonants = (sound: string): string =>
  sound
    .replace(/[aeiou]/g, '')
    .replace(/[bpf]/g, 'b')
    .replace(/([^v])\1+/g, '$1');

function agree(left: string, right: string, ours: number, theirs: number): boolean {
  const [one, other] = [left[ours], right[theirs]];
  if (one === undefined && other === undefined) return true;
  const isAlike = one === other || (one === 'v' && other === 'b') || (one === 'b' && other === 'v');
  if (one !== undefined && isAlike && agree(left, right, ours + 1, theirs + 1)) return true;
  if (one === 'v' && agree(left, right, ours + 1, theirs)) return true;
  return other === 'v' && agree(left, right, ours, theirs + 1);
}

// Applied in this order; each brings the usual transliterations of one sound to one spelling.
const RULES: readonly (readonly [RegExp, string])[] = [
  [/ph/g, 'f'],
  [/t?sch|sh|ch|cz|sz|tch/g, 's'],
  [/dzh|dj|zh/g, 'j'],
  [/([kgdt])h/g, '$1'],
  [/ck|q|x/g, 'k'],
  [/c(?=[eiy])/g, 's'],
  [/c/g, 'k'],
  [/z/g, 's'],
  [/w/g, 'v'],
  [/ou|oo/g, 'u'],
  [/ee|ii|iy|yi|ij|yy|ie|ey/g, 'i'],
  [/[yj]/g, 'i'],
  [/o/g, 'u'],
  [/e/g, 'a'],
  [/(.)\1+/g, '$1'],
];

/** Reduces a lower-case ASCII word to how it sounds, so that common transliterations of one name become equal. */
export const soundOf = (text: string): string =>
  RULES.reduce((sound, [pattern, replacement]) => sound.replace(pattern, replacement), text);

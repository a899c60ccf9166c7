const PREFIX_WEIGHT = 0.1;
const PREFIX_LENGTH = 4;

const commonPrefixLength = (left: string, right: string): number => {
  let length = 0;
  while (length < PREFIX_LENGTH && length < left.length && left[length] === right[length]) length += 1;
  return length;
};

const jaro = (left: string, right: string): number => {
  const reach = Math.max(0, Math.floor(Math.max(left.length, right.length) / 2) - 1);
  const isTaken = new Uint8Array(right.length);
  let matchedLeft = '';
  for (let index = 0; index < left.length; index += 1) {
    const end = Math.min(right.length, index + reach + 1);
    for (let other = Math.max(0, index - reach); other < end; other += 1) {
      if (isTaken[other] === 1 || left.charCodeAt(index) !== right.charCodeAt(other)) continue;
      isTaken[other] = 1;
      matchedLeft += left.charAt(index);
      break;
    }
  }
  const common = matchedLeft.length;
  if (common === 0) return 0;
  let outOfPlace = 0;
  for (let other = 0, place = 0; other < right.length; other += 1) {
    if (isTaken[other] !== 1) continue;
    if (right.charCodeAt(other) !== matchedLeft.charCodeAt(place)) outOfPlace += 1;
    place += 1;
  }
  return (common / left.length + common / right.length + (common - outOfPlace / 2) / common) / 3;
};

/** Jaro-Winkler similarity of two strings, 0 (nothing in common) to 1 (equal). */
export const jaroWinkler = (left: string, right: string): number => {
  if (left === right) return 1;
  const similarity = jaro(left, right);
  return similarity + commonPrefixLength(left, right) * PREFIX_WEIGHT * (1 - similarity);
};

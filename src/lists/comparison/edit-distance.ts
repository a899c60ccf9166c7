/** Whether one word becomes the other by at most `most` insertions, deletions, changes of a letter or swaps of neighbours. */
export function isWithinEdits(left: string, right: string, most: number): boolean {
  if (Math.abs(left.length - right.length) > most) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let end = 0;
  const shortest = Math.min(left.length, right.length) - start;
  while (end < shortest && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const [ours, theirs] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  if (ours.length <= most && theirs.length <= most) return true;
  return countEdits(ours, theirs) <= most;
}

/**
 * Whether two different words are one slip of the pen apart: neighbours swapped, or, in words that are not all short, a letter dropped,
 * added or changed. Never with figures: another number is another name.
 */
export function isOneSlip(left: string, right: string): boolean {
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left];
  if (longer.length - shorter.length > 1 || left === right) return false;
  // One slip leaves the first or the last letter as it was, but in two letters. Most pairs of words end here.
  const isEitherSame = left[0] === right[0] || left[left.length - 1] === right[right.length - 1];
  if (!isEitherSame && longer.length > 2) return false;
  // One changed letter always changes the sum of the letters, two swapped ones never do.
  const isShort = shorter.length < 3 || longer.length < 4;
  if (isShort && (shorter.length < longer.length || sumLetters(left) !== sumLetters(right))) return false;
  return isWithinEdits(left, right, 1) && !figures.test(left) && !figures.test(right);
}

const figures = /\d/;

function sumLetters(word: string): number {
  let sum = 0;
  for (let at = 0; at < word.length; at += 1) sum += word.charCodeAt(at);
  return sum;
}

function countEdits(left: string, right: string): number {
  let before: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const change = (last[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      let edits = Math.min((last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, change);
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && isSwap) edits = Math.min(edits, (before[column - 2] ?? 0) + 1);
      next.push(edits);
    }
    before = last;
    last = next;
  }
  return last[right.length] ?? 0;
}

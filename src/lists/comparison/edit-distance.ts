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

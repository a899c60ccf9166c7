/** How many single-letter insertions, deletions, replacements or swaps of neighbours turn one word into the other. */
export function countEdits(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) best = Math.min(best, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}

const fold = (word: string): string => word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The known word that is most similar, or null when more than a third of the letters of each one differ. */
export function findNearMiss(word: string, known: readonly string[]): string | null {
  let best: { word: string; edits: number } | null = null;
  for (const candidate of known) {
    const edits = countEdits(fold(word), fold(candidate));
    if (edits <= Math.max(1, Math.floor(candidate.length / 3)) && (best === null || edits < best.edits)) {
      best = { word: candidate, edits };
    }
  }
  return best?.word ?? null;
}

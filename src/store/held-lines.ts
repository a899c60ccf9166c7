/** How many lines of a list that may be as long as a roster are held in memory; longer ones are read again while they are written. */
export const heldLines = 10_000;

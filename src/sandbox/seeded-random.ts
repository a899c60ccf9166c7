/** Gives numbers from 0 up to, but not including, 1. */
export type Random = () => number;

/** Creates numbers that look random and are the same sequence for the same seed. */
export const createSeededRandom = (seed: number): Random => {
  let state = seed | 0;
  return () => {
    // A Weyl sequence whose steps are scrambled by two rounds of multiply and shift.
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
};

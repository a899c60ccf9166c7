import type { Pace, Turn } from './pace.js';

const freeTurn: Turn = { isProbe: false, mayLeave: () => true, judge: () => ({ isOutage: false }) };

/** A pace without any limit, to measure what a client costs by itself; never for a service that somebody pays for. */
export const unpaced = (): Pace => ({ run: (_entrant, task) => task(freeTurn), close: () => undefined });

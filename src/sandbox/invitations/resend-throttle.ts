import { createSlidingWindow, type SlidingWindow } from '../sliding-window.js';

const MINUTE_MS = 60_000;
const PER_ADDRESS = 30;
const PER_ORGANISATION = 20;

/** Says whether a resend may be tried at `atMs`; a refused one takes no place in the window that refused it. */
export type AdmitResend = (account: string, address: string, atMs: number) => boolean;

/** Creates the throttles of resends: per organisation and per IP address (interface: Limits). */
export const createResendThrottle = (): AdmitResend => {
  const windows = new Map<string, SlidingWindow>();
  const take = (key: string, places: number, atMs: number): boolean => {
    const window = windows.get(key) ?? createSlidingWindow(places, MINUTE_MS);
    windows.set(key, window);
    return window.take(atMs) === 0;
  };
  return (account, address, atMs) =>
    take(`organisation ${account}`, PER_ORGANISATION, atMs) && take(`address ${address}`, PER_ADDRESS, atMs);
};

import type { MailSettings } from '../../mail/settings.js';
import { toDurationMs } from '../../roster/duration.js';

const minuteMs = 60_000;
/** The longest wait between two attempts at something in the outbox. */
export const longestWaitMs = 60 * minuteMs;

/** When something queued now is sent no more. */
export const toGiveUpAt = ({ retryFor }: MailSettings, now: Date): Date =>
  new Date(now.getTime() + toDurationMs(retryFor));

/** How long to wait after so many failed attempts: a minute doubled each time, and at most an hour. */
export const toWaitMs = (attempts: number): number => Math.min(longestWaitMs, 2 ** Math.min(attempts, 10) * minuteMs);

/** When to try again after so many attempts: after 2, 4, 8 minutes and so on, and then every hour. */
export const toNextAttempt = (attempts: number, now: Date): Date => new Date(now.getTime() + toWaitMs(attempts));

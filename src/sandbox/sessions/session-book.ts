import { makeToken } from '../make-token.js';
import type { SandboxClock } from '../sandbox-clock.js';
import type { Session } from './session.js';

/** The sessions of a sandbox; whoever knows a token may use it (interface: Authentication 3). */
export interface SessionBook {
  open(level: string, applicant: Record<string, unknown>): Session;
  find(id: string): Session | undefined;
}

/** Creates a book without sessions. */
export const createSessionBook = (clock: SandboxClock): SessionBook => {
  const sessions = new Map<string, Session>();
  return {
    open: (level, applicant) => {
      const session: Session = {
        id: makeToken(),
        level,
        applicant,
        createdAtMs: clock.nowMs(),
        isCanceled: false,
        hasConsent: null,
        smsSent: 0,
        liveness: 'not_started',
      };
      sessions.set(session.id, session);
      return session;
    },
    find: (id) => sessions.get(id),
  };
};

import type { ClientEvent } from '../client/client-event.js';

const shortestToldMs = 5_000;

const inSeconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1_000))} s`;

/** What the client met, in words for whoever watches the run; null for what is of no interest there. */
export function describeServiceEvent(event: ClientEvent): string | null {
  switch (event.kind) {
    case 'outage_began':
      return `out of reach (${event.operation}); it is asked again in ${inSeconds(event.probeInMs)} and then at least every 20 s, nothing is lost`;
    case 'outage_ended':
      return `there again after ${inSeconds(event.lastedMs)} (${event.operation})`;
    case 'paused':
      return event.pauseMs < shortestToldMs ? null : `asks for a pause of ${inSeconds(event.pauseMs)}`;
    case 'rate_lowered':
      return null;
    case 'key_renewed':
      return `the key was refused and read again; the new one has the fingerprint ${event.fingerprint}`;
    case 'no_public_key':
      return `the account has no public key, so that the private key is a ${event.isTest ? 'test' : 'live'} one is taken from service.mode or its prefix`;
  }
}

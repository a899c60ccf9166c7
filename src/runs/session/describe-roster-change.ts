import { readParties, readRoster } from '../../roster/read-roster.js';
import type { RosterSettings } from '../../roster/settings.js';
import type { RosterHold } from '../../store/roster-acceptances.js';
import { readImportOrigin } from '../../store/roster-imports.js';
import { joinDigests } from '../rosters/join-digests.js';
import type { Workplace } from '../workplace.js';

/**
 * Reads a roster and says, with both figures, how it differs from what a run imported; null when it is the same to the byte, and for a run
 * that imported nothing. Throws RosterError when it cannot be read.
 */
export async function describeRosterChange(
  { database, secret }: Workplace,
  runId: number,
  roster: RosterSettings,
): Promise<string | null> {
  const imported = await readImportOrigin(database, runId);
  if (imported === null) return null;
  const now = await readFigures(roster, secret);
  const { source } = imported;
  if (source === now.source && imported.digest === now.digest) return null;
  const from = source === now.source ? '' : `read from ${source} then and from ${now.source} now, `;
  return `the roster has changed since: ${from}rows ${imported.rows} then and ${now.rows} now, rejected ${imported.rejected} then and ${now.rejected} now, digest ${shorten(imported.digest)} then and ${shorten(now.digest)} now`;
}

/** Whether a roster is another, or reads otherwise, than the one that guards held in a run. Throws RosterError when it cannot be read. */
export async function isOtherThanHeld(
  { secret }: Workplace,
  hold: RosterHold,
  roster: RosterSettings,
): Promise<boolean> {
  const { source, digest } = await readFigures(roster, secret);
  return source !== hold.source || digest !== hold.sourceDigest;
}

async function readFigures(roster: RosterSettings, secret: Workplace['secret']) {
  const reading = await readRoster(roster, secret);
  try {
    const now = { rows: 0, rejected: 0 };
    for await (const rows of reading.rows) {
      now.rows += rows.length;
      now.rejected += rows.filter((row) => row.kind === 'rejected').length;
    }
    const digest = joinDigests([reading.digest(), ...(await digestParties(roster, secret))]);
    return { ...now, source: reading.source, digest };
  } finally {
    await reading.close();
  }
}

const shorten = (digest: string): string => digest.slice(0, 12);

async function digestParties(roster: RosterSettings, secret: Workplace['secret']): Promise<readonly string[]> {
  const digests: string[] = [];
  for (const settings of roster.parties ?? []) {
    const reading = await readParties(settings, secret);
    try {
      for await (const _ of reading.rows);
      digests.push(reading.digest());
    } finally {
      await reading.close();
    }
  }
  return digests;
}

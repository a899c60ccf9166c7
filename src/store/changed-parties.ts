import { z } from 'zod';
import type { ChangedParty, PartySaid } from '../changes/detect-changes.js';
import type { Match } from '../matches/match.js';
import type { Queryable } from './database.js';
import { judgedTierSql, partySaidSchema, partySaidSql } from './party-facts.js';
import { storedMatchSchema } from './stored-match.js';

/** What bears on how much changes of a party matter. */
export interface ChangedPartyRow extends ChangedParty {
  /** Matches that were removed on the account and have not come back, in the order in which they went. */
  removed: readonly Match[];
}

const partyRow = z.object({
  partyId: z.number(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  riskTier: z.enum(['low', 'medium', 'high']).nullable(),
  gone: z.array(z.object({ kind: z.string(), before: storedMatchSchema })),
});

/** Parties whose answers differ from the ones before, by party id; each as its customer was in the version that was searched for. */
export async function readChangedParties(
  database: Queryable,
  accountId: number,
  parties: readonly { partyId: number; customerVersion: number }[],
): Promise<ReadonlyMap<number, ChangedPartyRow>> {
  if (parties.length === 0) return new Map();
  const rows = await database.query(
    partyRow,
    `select asked.party_id as "partyId", ${judgedTierSql} as "riskTier",
       version.record -> 'parties' -> party.ordinal::integer ->> 'birthDate' as "birthDate",
       version.record -> 'parties' -> party.ordinal::integer -> 'countries' as countries,
       coalesce((
         select jsonb_agg(jsonb_build_object('kind', event.kind, 'before', event.before) order by event.change_id)
         -- Fenced off: in a night that has stored many changes and has no statistics yet, all of a run's would be walked through for each party.
         from (
           select change_id, run_id, kind, before from change_event
           where party_id = asked.party_id and kind in ('match_removed', 'match_returned') offset 0
         ) event
         join run on run.run_id = event.run_id and run.account_id = $1
       ), '[]') as gone
     from unnest($2::bigint[], $3::integer[]) as asked (party_id, customer_version)
     join party on party.party_id = asked.party_id
     join customer_version version on version.customer_id = party.customer_id and version.version = asked.customer_version`,
    [accountId, parties.map(({ partyId }) => partyId), parties.map(({ customerVersion }) => customerVersion)],
  );
  return new Map(rows.map(({ partyId, gone, ...party }) => [partyId, { ...party, removed: findGone(gone) }]));
}

/** What the records of parties say, by `party id/customer version`. */
export async function readPartiesSaid(
  database: Queryable,
  parties: readonly { partyId: number; customerVersion: number }[],
): Promise<ReadonlyMap<string, PartySaid>> {
  if (parties.length === 0) return new Map();
  const rows = await database.query(
    z.object({ key: z.string(), said: partySaidSchema }),
    `select concat_ws('/', asked.party_id, asked.customer_version) as key, ${partySaidSql} as said
     from unnest($1::bigint[], $2::integer[]) as asked (party_id, customer_version)
     join party on party.party_id = asked.party_id
     join customer_version version on version.customer_id = party.customer_id and version.version = asked.customer_version`,
    [parties.map(({ partyId }) => partyId), parties.map(({ customerVersion }) => customerVersion)],
  );
  return new Map(rows.map(({ key, said }) => [key, said]));
}

/** What was removed and has not come back: a return names what was removed as it was then. */
function findGone(events: readonly { kind: string; before: Match }[]): readonly Match[] {
  const gone = new Map<string, Match>();
  for (const { kind, before } of events) {
    // An id may have been used twice.
    const key = JSON.stringify([before.id, before.name]);
    if (kind === 'match_removed') gone.set(key, before);
    else gone.delete(key);
  }
  return [...gone.values()];
}

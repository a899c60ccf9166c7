import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** How much of the service's data has changed between answers: per search, added up, with the squares, which tell how bunched it is. */
export interface ChangeVolume {
  /** Searches for customers who had been screened before under the same settings: only they can show a change of the service's data. */
  searchesAgain: number;
  /** Parties that share a search count once. */
  changes: number;
  changeSquares: number;
}

const volumeRow = z.object({ searchesAgain: z.number(), changes: z.number(), changeSquares: z.number() });

/** Adds up how much a run has found changed in the service's data. */
export async function readChangeVolume(database: Queryable, runId: number): Promise<ChangeVolume> {
  const rows = await database.query(
    volumeRow,
    `select
       (select count(distinct screening.request_id)::integer
        from screening
        join run on run.run_id = screening.run_id
        join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
        where screening.run_id = $1 and outcome = 'screened' and plan_reason <> 'new'
          -- What settings have changed says nothing about the service; the answer before is kept as long as the run is open.
          and coalesce(state.former_answer ->> 'settings_digest' = state.settings_digest, true)) as "searchesAgain",
       coalesce(sum(events), 0)::double precision as changes, coalesce(sum(events ^ 2), 0)::double precision as "changeSquares"
     from (
       select count(*)::double precision / count(distinct screening.party_id) as events
       from change_event event
       join screening on screening.run_id = event.run_id and screening.party_id = event.party_id and screening.outcome = 'screened'
       where event.run_id = $1 and not event.is_baseline and event.cause = 'service_data'
       group by screening.request_id
     ) by_search`,
    [runId],
  );
  return firstRow(rows, 'change_event');
}

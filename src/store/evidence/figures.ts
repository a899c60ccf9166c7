import { z } from 'zod';
import { packEndings, planSelections, runKinds, runModes, runStates } from '../../vocabulary.js';
import type { Queryable } from '../database/database.js';
import { sql } from '../database/statement.js';
import { isNightSql } from '../operations/metrics.js';
import { screeningKindsSql } from '../row-shapes.js';
import { runIdSql } from '../runs.js';

const count = z.number().nullable();

const figuresRow = z.object({
  roster: z.string(),
  runId: z.string(),
  kind: z.enum(runKinds),
  mode: z.enum(runModes),
  selection: z.enum(planSelections).nullable(),
  /** Whether it covers all due customers. */
  isNight: z.boolean(),
  state: z.enum(runStates),
  startedAt: z.date(),
  /** Null until they are fixed at the end of the run. */
  inScope: count,
  screened: count,
  reused: count,
  failed: count,
  skipped: count,
  remaining: count,
  hold: z.enum(['held', 'accepted']).nullable(),
  acceptedBy: z.string().nullable(),
  controlsPassed: z.number(),
  controlsFailed: z.number(),
  alertsOpened: z.number(),
  hasPacks: z.boolean(),
  /** Of its last pack; null without one. */
  pack: z.object({ ending: z.enum(packEndings), sequence: z.number().nullable(), isWritten: z.boolean() }).nullable(),
});
/** The figures of a screening run. */
export type RunFigures = z.infer<typeof figuresRow>;

/** The figures of the screening runs of an organisation that began in a span, of one roster or of all, by roster and time. */
export const readRunFigures = (
  database: Queryable,
  organisationId: number,
  { from, until, roster }: { from: Date; until: Date; roster: string | null },
): Promise<readonly RunFigures[]> =>
  database.query(
    figuresRow,
    sql`select roster.name as roster, ${runIdSql('run')} as run_id, run.kind, run.mode, run.selection, coalesce(${isNightSql}, false) as is_night,
       run.state, run.started_at, counts.*,
       case when accepted.run_id is not null then 'accepted' when hold.run_id is not null then 'held' end as hold, accepted.accepted_by,
       controls.*, (
         select count(*)::integer from alert_event event where event.run_id = run.run_id and event.kind = 'opened'
       ) as alerts_opened,
       run.settings #> '{evidence,dir}' is distinct from 'null' as has_packs,
       (
         select json_build_object('ending', pack.ending, 'sequence', pack.sequence, 'isWritten', pack.written_at is not null)
         from evidence_pack pack where pack.run_id = run.run_id order by pack.number desc limit 1
       ) as pack
     from run
     join roster using (roster_id)
     left join run_hold hold on hold.run_id = run.run_id and hold.kind = 'answers'
     left join acceptance accepted on accepted.run_id = run.run_id and accepted.kind = 'answers' and not accepted.is_proposal
     cross join lateral (
       select coalesce((sums ->> 'inScope')::integer, run.in_scope) as in_scope, (sums ->> 'screened')::integer as screened,
         (sums ->> 'reused')::integer as reused, (sums ->> 'failed')::integer as failed, (sums ->> 'skipped')::integer as skipped,
         (sums ->> 'remaining')::integer as remaining
       from (select case when run.state <> 'running' then run.sums -> 'counts' end as sums) fixed
     ) counts
     cross join lateral (
       select (count(*) filter (where verdict = 'passed'))::integer as controls_passed,
         (count(*) filter (where verdict = 'failed'))::integer as controls_failed
       from control_outcome control where control.run_id = run.run_id
     ) controls
     where run.organisation_id = ${organisationId} and run.kind in (${screeningKindsSql})
       and run.started_at >= ${from} and run.started_at < ${until} and (${roster}::text is null or roster.name = ${roster})
     order by roster.name collate "C", run.run_id`,
  );

/** When each roster of an organisation, or one of them, first had a run over all due customers. */
export const readFirstNights = (database: Queryable, organisationId: number, roster: string | null) =>
  database.query(
    z.object({ roster: z.string(), startedAt: z.date() }),
    sql`select roster.name as roster, min(run.started_at) as "startedAt"
     from run join roster using (roster_id)
     where run.organisation_id = ${organisationId} and ${isNightSql} and (${roster}::text is null or roster.name = ${roster})
     group by roster.name order by roster.name collate "C"`,
  );

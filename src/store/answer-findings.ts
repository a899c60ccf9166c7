import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** What the answers of a run held: each search counts once, and the squares tell how bunched it is. */
export interface AnswerFindings {
  matches: number;
  matchSquares: number;
  hits: number;
  hitSquares: number;
  /**
   * How many answers had which length (as the service counted it), from 2. Answers that begin with the same listed party count once:
   * customers of one name share its list, whatever its length.
   */
  answersByLength: ReadonlyMap<number, number>;
}

const findingsRow = z
  .object({
    matches: z.number(),
    matchSquares: z.number(),
    hits: z.number(),
    hitSquares: z.number(),
    lengths: z.array(z.object({ length: z.number(), answers: z.number() })),
  })
  .transform(
    ({ lengths, ...sums }): AnswerFindings => ({
      ...sums,
      answersByLength: new Map(lengths.map(({ length, answers }) => [length, answers])),
    }),
  );

/** Adds up what the answers of a run held, in one walk through them. */
export async function readAnswerFindings(database: Queryable, runId: number): Promise<AnswerFindings> {
  const rows = await database.query(
    findingsRow,
    `with answer as materialized (
       select answered.searches, response.total,
         coalesce(response.matches, counted.matches) as matches, coalesce(response.hits, counted.hits) as hits,
         coalesce(response.first_match_id, counted.first_match_id) as first_match_id
       from (
         select response_id, count(distinct request_id) as searches
         from screening where run_id = $1 and outcome = 'screened'
         group by response_id
       ) answered
       join response on response.response_id = answered.response_id
       -- Answers that were stored before these were counted with them.
       left join lateral (
         select count(*) as matches, count(*) filter (where match.is_hit) as hits,
           min(match.match_id) filter (where match.rank = 1) as first_match_id
         from match where response.matches is null and match.response_id = response.response_id
       ) counted on response.matches is null
     )
     select
       coalesce(sum(searches * matches), 0)::bigint as matches,
       coalesce(sum(searches * matches ^ 2), 0)::double precision as "matchSquares",
       coalesce(sum(searches * hits), 0)::bigint as hits,
       coalesce(sum(searches * hits ^ 2), 0)::double precision as "hitSquares",
       (select coalesce(jsonb_agg(jsonb_build_object('length', total, 'answers', answers)), '[]')
        from (
          select total, count(distinct first_match_id) as answers from answer
          where total >= 2 and first_match_id is not null
          group by total
        ) by_length) as lengths
     from answer`,
    [runId],
  );
  return firstRow(rows, 'screening');
}

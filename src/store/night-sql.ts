/** SQL that tells whether a row of `run` was to screen everybody who is due: an onboarding and a run over chosen customers are no night. */
export const isNightSql = (run: string): string =>
  `${run}.kind in ('screen', 'rescreen') and ${run}.selection in ('due', 'all')`;

/** SQL that gives when a row of `run` began, or was last gone on with. */
export const takenAtSql = (run: string): string =>
  `greatest(${run}.started_at, (select max(taken_at) from run_holder where run_holder.run_id = ${run}.run_id))`;

/** SQL that tells whether a row of `run` looked at more than what events had marked: only such a run is a sweep or a screening that others go by. */
export const isWholeSql = (run: string): string => `${run}.selection is distinct from 'dirty'`;

/** What was noted as later than this from now was noted by a clock that was ahead: those of two hosts are never so far apart. */
const mostAheadSql = `interval '1 hour'`;

/** SQL: a moment was noted by a clock that was ahead, so that it says nothing of when it was. */
export const isAheadSql = (moment: string, now: string): string => `${moment} > ${now} + ${mostAheadSql}`;

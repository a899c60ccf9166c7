import { readLastControls } from '../../store/canaries.js';
import type { Queryable } from '../../store/database/database.js';
import { readRun, toRunId } from '../../store/runs.js';

const holdForMs = 24 * 60 * 60 * 1_000;

/** What control searches of other runs say about a service that was asked without any: `hold` when they passed within the last day. */
export interface ControlStanding {
  verdict: 'hold' | 'failed' | 'one_sided' | 'too_old' | 'never';
  /** The run that asked them last, and when; null before the first. */
  runId: string | null;
  askedAt: Date | null;
}

/** What the last control searches on the account before this moment say about an answer that came then. */
export async function judgeControls(
  database: Queryable,
  accountId: number | null,
  answeredAt: Date,
): Promise<ControlStanding> {
  const last = accountId === null ? null : await readLastControls(database, accountId, answeredAt);
  const run = last && (await readRun(database, last.runId));
  if (!last || !run) return { verdict: 'never', runId: null, askedAt: null };
  const { askedAt, hasPassed, isConclusive } = last;
  const isOld = answeredAt.getTime() - askedAt.getTime() > holdForMs;
  const verdict = !hasPassed ? 'failed' : !isConclusive ? 'one_sided' : isOld ? 'too_old' : 'hold';
  return { verdict, runId: toRunId(run), askedAt };
}

const words: Readonly<Record<ControlStanding['verdict'], string>> = {
  hold: 'none with this check; the last ones on this account passed',
  failed: 'NONE with this check, and the last ones on this account FAILED',
  one_sided: 'NONE with this check, and the last ones on this account did not expect both a match and nothing',
  too_old: 'NONE with this check, and the last ones on this account are more than a day old',
  never: 'NONE: no control search was ever made on this account',
};

/** The standing in words, with run and time. */
export function describeControls({ verdict, runId, askedAt }: ControlStanding): string {
  return askedAt === null ? words[verdict] : `${words[verdict]} (${runId}, ${askedAt.toISOString()})`;
}

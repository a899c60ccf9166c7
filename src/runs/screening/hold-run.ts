import { assessVanished, VanishedTally } from '../../changes/assess-vanished.js';
import { countNoun, formatCount } from '../../reports/text.js';
import { type HoldBounds, toHoldBounds } from '../../screening/settings.js';
import type { Queryable } from '../../store/database/database.js';
import { readComparedParties, readVanishedBefore } from '../../store/night/held-runs.js';
import { codeWords } from '../../vocabulary/words.js';
import type { RunContext, RunSettings } from '../app-context.js';

const weekMs = 7 * 24 * 60 * 60 * 1_000;

/** The bounds beyond which a run is held. */
export const readBounds = ({ screening }: Pick<RunSettings, 'screening'>): HoldBounds => toHoldBounds(screening.hold);

/** Compares the answers of a run up to a wave with each party's last applied answer. Returns why the run is to be held. */
export async function assessRun(database: Queryable, { app, run }: RunContext, accountId: number, upTo: number) {
  const { settings, clock } = app;
  const tally = new VanishedTally(settings.changes.topics);
  const { runId, rosterId } = run;
  const scope = rosterId === null ? null : { runId, rosterId, accountId };
  if (scope) for await (const party of readComparedParties(database, scope, upTo)) tally.add(party);
  const figures = tally.figures();
  const vanished = figures.reduce((sum, one) => sum + one.vanished, 0);
  const since = new Date(clock.now().getTime() - weekMs);
  const before = scope && vanished > 0 ? await readVanishedBefore(database, scope, since) : {};
  const findings = assessVanished(figures, before, readBounds(settings));
  return { figures, findings };
}

/** Why a run is held, in words with both figures. */
export function describeFinding({
  family,
  span,
  vanishedOfSpan,
  knownOfSpan,
  bound,
}: ReturnType<typeof assessVanished>[number]): string {
  const hits = `${formatCount(vanishedOfSpan)} of ${countNoun(knownOfSpan, 'known hit')} ${codeWords.hitFamily[family]}`;
  const when = span === 'week' ? ' within seven days' : '';
  const limit = bound === null ? 'all of them' : `the bound is ${Number((bound * 100).toFixed(1))} %`;
  return `${hits} vanished${when} (${limit})`;
}

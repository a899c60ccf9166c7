import { renderCsvBatches } from '../../reports/csv.js';
import type { Column } from '../../reports/section.js';
import { countNoun, formatCount } from '../../reports/text.js';
import type { AffectedCustomer } from '../../store/evidence/affected.js';
import type { PopulationMember } from '../../store/evidence/population.js';
import { defineDatabaseCommand, mandatory, parsed, text } from '../command.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation } from '../invocation.js';
import { meanings, parseDay, parseMoment, shared } from '../options.js';
import { describeGap, renderJsonBatches } from '../text.js';

/** Writes a list as CSV, or as JSON with `--json`, with flat memory. */
async function writeList<Line extends object>(
  { options, terminal }: Invocation,
  columns: readonly Column<Line>[],
  head: { schema: string },
  { batches, finish }: { batches: AsyncIterable<readonly Line[]>; finish: () => object },
): Promise<void> {
  const chunks = options.json === true ? renderJsonBatches(head, batches, finish) : renderCsvBatches(columns, batches);
  for await (const chunk of chunks) await terminal.writeData(chunk);
}

export const population = defineDatabaseCommand({
  usage: 'population',
  description: 'CSV: who was in scope at a moment, and in which state',
  options: { at: parsed('<date>', meanings.at, parseMoment), roster: shared.roster },
  examples: ['evidence population --at 2026-03-01', 'evidence population --at 2026-03-01T12:00Z --json'],
  run: async (app, { options: { at, roster }, invocation, signal }) => {
    const { listPopulation } = await import('../../runs/evidence-lists.js');
    const { toMoment } = await import('../../runs/evidence-show.js');
    const moment = at === undefined ? null : toMoment(at, app.settings.timezone);
    const list = await listPopulation(app, { at: moment, roster }, signal);
    const { rosters, neverImported } = list;
    const head = { schema: 'nightscreen/evidence-population/1', at: list.at, rosters, neverImported };
    await writeList(invocation, populationColumns, head, list);
    const { inScope, notValid, states } = list.finish();
    const counts = Object.entries(states).map(([state, customers]) => `${formatCount(customers)} ${state}`);
    const message = `${countNoun(inScope, 'customer')} in scope at ${list.at.toISOString()}: ${counts.join(', ')}`;
    if (inScope > 0) invocation.notify({ level: 'info', code: 'evidence_population', message });
    const gap = describeGap(neverImported, inScope);
    if (gap !== null) invocation.notify({ level: 'warn', code: 'nothing_known', message: gap });
    const exitCode = gap === null && notValid === 0 ? exitCodes.complete : exitCodes.incomplete;
    return { exitCode, isWritten: true };
  },
});

/** As in docs/evidence.md. */
const populationColumns: readonly Column<PopulationMember>[] = [
  { key: 'roster', cell: ({ roster }) => roster },
  { key: 'customer_id', cell: ({ reference }) => reference },
  { key: 'state', cell: ({ state }) => state },
  { key: 'reason', cell: ({ reason }) => reason },
  { key: 'recorded_state', cell: ({ recordedState }) => recordedState },
  { key: 'as_of', cell: ({ asOf }) => asOf },
  { key: 'run', cell: ({ runId }) => runId },
  { key: 'outcome', cell: ({ outcome }) => outcome },
  { key: 'because', cell: ({ because }) => because },
  { key: 'record', cell: ({ record }) => record },
  { key: 'has_left', cell: ({ hasLeft }) => String(hasLeft) },
  { key: 'mode', cell: ({ mode }) => mode },
];

export const affected = defineDatabaseCommand({
  usage: 'affected',
  description: 'CSV: whose answers of these days are in question',
  options: {
    since: mandatory(parsed('<day>', meanings.since, parseDay)),
    until: mandatory(parsed('<day>', meanings.until, parseDay)),
    topic: text('<topic>', 'only those without a hit of it in these answers, as in sanction'),
    roster: shared.roster,
  },
  examples: [
    'evidence affected --since 2026-03-01 --until 2026-03-09',
    'evidence affected --since 2026-03-01 --until 2026-03-09 --json',
  ],
  run: async (app, { options, invocation, signal }) => {
    const { listAffected } = await import('../../runs/evidence-lists.js');
    const list = await listAffected(app, options, signal);
    const { from, until, rosters, topic, runs, packedRuns } = list;
    const head = { schema: 'nightscreen/evidence-affected/1', from, until, rosters, topic, runs, packedRuns };
    await writeList(invocation, affectedColumns, head, list);
    const { customers, sinceThen } = list.finish();
    if (packedRuns > 0) {
      const message = `${countNoun(packedRuns, 'run')} of these days are in packs only, so the list lacks their customers. A backup from before has them.`;
      invocation.notify({ level: 'warn', code: 'history_gone', message });
      return { exitCode: exitCodes.incomplete, isWritten: true };
    }
    if (runs === 0) {
      const message = `No run of these days has answers in this database, so nothing is known of them. Their packs and backups may have some.`;
      invocation.notify({ level: 'warn', code: 'nothing_known', message });
      return { exitCode: exitCodes.incomplete, isWritten: true };
    }
    const message = `${countNoun(customers, 'customer')} affected: ${formatCount(sinceThen.not_screened)} not screened since, ${formatCount(sinceThen.left)} left before, ${formatCount(sinceThen.screened)} screened again`;
    invocation.notify({ level: 'info', code: 'evidence_affected', message });
    return { exitCode: sinceThen.not_screened === 0 ? exitCodes.complete : exitCodes.incomplete, isWritten: true };
  },
});

/** As in docs/evidence.md. */
const affectedColumns: readonly Column<AffectedCustomer>[] = [
  { key: 'roster', cell: ({ roster }) => roster },
  { key: 'customer_id', cell: ({ reference }) => reference },
  { key: 'since_then', cell: ({ sinceThen }) => sinceThen },
  { key: 'state_now', cell: ({ stateNow }) => stateNow },
  { key: 'because', cell: ({ because }) => because },
  { key: 'run', cell: ({ runId }) => runId },
  { key: 'answered_at', cell: ({ answeredAt }) => answeredAt },
  { key: 'results', cell: ({ results }) => results },
  { key: 'hits', cell: ({ hits }) => hits },
  { key: 'state_then', cell: ({ stateThen }) => stateThen },
  { key: 'run_again', cell: ({ againRunId }) => againRunId },
  { key: 'again_at', cell: ({ againAt }) => againAt },
  { key: 'changes_since', cell: ({ changesSince }) => changesSince },
  { key: 'alerts_since', cell: ({ alertsSince }) => alertsSince },
  { key: 'mode', cell: ({ mode }) => mode },
];

import { renderCsvBatches } from '../../reports/csv.js';
import type { Column } from '../../reports/section.js';
import { countNoun, formatCount } from '../../reports/text.js';
import type { PopulationMember } from '../../store/evidence/population.js';
import { defineDatabaseCommand, parsed } from '../command.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation } from '../invocation.js';
import { meanings, parseMoment, shared } from '../options.js';
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
  description:
    'CSV of the customers in scope at a moment: state, last run, last answer. Exit code 3 unless all were screened',
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

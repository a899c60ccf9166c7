import { countNoun } from './format-count.js';
import { type Markup, nothing, section, showParty, showTime } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { Report } from './report.js';
import type { DroppedPartyFacts } from './run-facts.js';
import { stateWords } from './state-words.js';

const whyWords: Readonly<Record<DroppedPartyFacts['state'], string>> = {
  open_hit: 'it stays in scope, and the customer an open hit, until the hit is settled',
  incompletely_seen:
    'it is searched for only while something about it waits for a decision; a hit may exist that nobody has seen',
  confirmed: 'it is searched for only while something about it waits for a decision',
};

const columns: readonly TableColumn<DroppedPartyFacts>[] = [
  { title: 'Customer', cell: ({ party }) => showParty(party) },
  { title: 'What it was', cell: ({ state }) => `${stateWords[state].name}: ${whyWords[state]}` },
  {
    title: 'Why',
    cell: ({ party }) =>
      party.role === 'conflicting_row'
        ? 'the rows of this id no longer contradict each other, and none of them has this name'
        : 'no longer in the source',
  },
  { title: 'Since', cell: ({ droppedAt }) => showTime(droppedAt) },
];

/** Parties that the roster no longer names although nobody has cleared them; nothing where there is none. */
export function showDroppedParties({ droppedParties }: Report): Markup {
  if (droppedParties.length === 0) return nothing;
  const title = `${countNoun(droppedParties.length, 'party', 'parties')} that the roster no longer names, and that nobody has cleared`;
  return section('dropped', 'No longer in the source', showTable(title, columns, droppedParties, 'report.json'));
}

import type { Sheet, SheetCell, SheetRow } from '../spreadsheet/sheet.js';
import { toHeading } from '../workbook-guide.js';

/** A fact's name, its figure, and what there is to say of it. */
export type Fact = readonly [name: string, value: SheetCell, note?: string | null];

/** Facts under a heading. */
export interface FactBlock {
  title: string;
  facts: readonly Fact[];
}

/** A sheet that is read from top to bottom; a block without facts is left out. */
export function toFactSheet(
  name: string,
  {
    top,
    blocks,
    bottom = [],
  }: { top: readonly SheetRow[]; blocks: readonly FactBlock[]; bottom?: readonly SheetRow[] },
): Sheet {
  const rows = blocks
    .filter(({ facts }) => facts.length > 0)
    .flatMap(({ title, facts }): readonly SheetRow[] => [{ cells: [] }, toHeading(title), ...facts.map(toRow)]);
  return {
    name,
    columns: [
      { width: 32, style: 'plain' },
      { width: 36, style: 'plain' },
      { width: 90, style: 'plain' },
    ],
    rows: [...top, ...rows, ...bottom],
    table: null,
    dropdowns: [],
  };
}

const toRow = ([name, value, note = null]: Fact): SheetRow => ({
  cells: [name, value, note],
  styles: ['text', typeof value === 'number' ? 'figure' : 'text', 'text'],
});

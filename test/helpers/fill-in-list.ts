import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { listSheetName } from '../../src/reports/review-list.js';

/** A workbook as somebody saves it who has decided about its rows: `decide` gives decision and reason by the customer's reference. */
export async function fillInList(
  bytes: Uint8Array,
  decide: (reference: string) => readonly [decision: string, reason: string] | null,
): Promise<Uint8Array> {
  const { sheets } = await readXlsx(bytes);
  return writeXlsx({
    sheets: sheets.map(({ name, rows }) => {
      const header = rows.find((row) => row.includes('Decision')) ?? [];
      const [reference, decision, reason] = ['Customer', 'Decision', 'Reason'].map((title) => header.indexOf(title));
      if (name !== listSheetName || reference === undefined) return { name, rows };
      const filled = rows.map((row) => {
        const said = row === header ? null : decide(String(row[reference] ?? ''));
        return said === null
          ? row
          : header.map((_, at) => (at === decision ? said[0] : at === reason ? said[1] : (row[at] ?? null)));
      });
      return { name, rows: filled };
    }),
  });
}

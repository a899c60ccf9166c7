import { RosterError } from '../errors.js';
import {
  fileColumn,
  isRejectsColumn,
  isRejectsHeader,
  partyFilePrefix,
  reasonColumn,
  structuralReasons,
  surplusColumn,
} from './rejects-columns.js';
import { restoreFormula, restoreHidden } from './restore-formula.js';
import type { TableReading, TableRecord } from './table-reading.js';

/**
 * Gives a `rejects.csv` that is fed back as the source it came from: without our columns and without the apostrophes before
 * formulas, and with the characters that are shown as code points. A record that was broken in itself stays rejected until its `rejected_reason` is emptied. Any other table is given as it is.
 * Its records throw RosterError `parties_as_customers` where a roster is to be made of rejected parties.
 */
export function asSource(table: TableReading, what: 'roster' | 'parties'): TableReading {
  const { headers } = table;
  if (!isRejectsHeader(headers)) return table;
  const kept = headers.flatMap((header, index) => (isRejectsColumn(header) ? [] : [index]));
  const places = { kept, reason: headers.indexOf(reasonColumn), surplus: headers.indexOf(surplusColumn) };
  const file = headers.indexOf(fileColumn);
  const refuseParties = (record: TableRecord): void => {
    if (what === 'parties' || !record.fields[file]?.startsWith(partyFilePrefix)) return;
    const told = `${table.source}: line ${record.line} was rejected as a related party and is no customer.`;
    throw new RosterError('parties_as_customers', `${told} Mend such rows in the source of the parties.`);
  };
  return {
    ...table,
    isFedBack: true,
    headers: kept.map((index) => restoreHidden(restoreFormula(headers[index] ?? ''))),
    records: mapBatches(table.records, (record) => {
      refuseParties(record);
      return toSourceRecord(record, headers.length, places);
    }),
  };
}

interface Places {
  kept: readonly number[];
  reason: number;
  surplus: number;
}

async function* mapBatches(
  batches: TableReading['records'],
  toRecord: (record: TableRecord) => TableRecord,
): AsyncGenerator<readonly TableRecord[], void, undefined> {
  for await (const batch of batches) yield batch.map(toRecord);
}

function toSourceRecord(record: TableRecord, columnCount: number, { kept, reason, surplus }: Places): TableRecord {
  const { fields } = record;
  const isWhole = fields.length === columnCount;
  const leftOver = isWhole ? (fields[surplus] ?? '').trim() : fields.slice(columnCount).join(' | ');
  const former = isWhole ? (fields[reason] ?? '').trim() : '';
  // The database keeps NUL as its visible symbol, which would pass as part of a name.
  const toField = (text: string): string =>
    restoreHidden(restoreFormula(former === 'control_character' ? text.replaceAll('\u2400', '\0') : text));
  const own = kept.map((index) => toField(fields[index] ?? ''));
  const fault = structuralReasons.find((each) => each === former) ?? null;
  return {
    ...record,
    fields: leftOver === '' ? own : [...own, toField(leftOver)],
    fault: record.fault ?? (isWhole ? fault : 'wrong_column_count'),
  };
}

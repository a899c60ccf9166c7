import type { CustomerBinding, PartyBinding, RelatedBinding } from './bind-columns.js';
import type { PartyRow, RejectedRow, RosterRow } from './customer.js';
import { Fault } from './fault.js';
import { type FieldsSeen, lookAtFields } from './find-field-fault.js';
import { readReference } from './read-fields.js';
import { surplusColumn } from './rejects-columns.js';
import type { TableRecord } from './table-reading.js';
import { toCustomer, toRelatedParty } from './to-customer.js';
import { classifyValue } from './value-class.js';

/** Makes a record of a roster a customer, or a rejected row with the first fault found. */
export function checkRow(binding: CustomerBinding, record: TableRecord): RosterRow {
  const { line, file } = record;
  const { fault, fields, joined } = lookAtRecord(binding, record);
  if (fault !== null) return rejectRow(binding, { ...record, fields }, fault);
  const customer = toCustomer(binding, fields);
  return customer instanceof Fault
    ? rejectRow(binding, { ...record, fields }, customer)
    : { kind: 'customer', line, file, customer, fields, joined };
}

/** Makes a record of related parties a party of a customer, or a rejected row with the first fault found. */
export function checkPartyRow(binding: RelatedBinding, record: TableRecord): PartyRow {
  const { line, file } = record;
  const { fault, fields } = lookAtRecord(binding, record);
  if (fault !== null) return rejectRow(binding, { ...record, fields }, fault);
  const related = toRelatedParty(binding, fields);
  return related instanceof Fault
    ? rejectRow(binding, { ...record, fields }, related)
    : { kind: 'party', line, file, related, fields };
}

function lookAtRecord(binding: PartyBinding, { fault, fields }: TableRecord): FieldsSeen {
  const reason = fault ?? (fields.length === binding.headers.length ? null : 'wrong_column_count');
  return reason === null ? lookAtFields(binding, fields) : { fault: new Fault(reason, null, ''), fields, joined: null };
}

function rejectRow(
  binding: PartyBinding,
  record: TableRecord,
  fault: Fault,
): { kind: 'rejected'; rejected: RejectedRow } {
  const { line, file, fields } = record;
  const { reason, column } = fault;
  // The quotes that make a record malformed stand where they stood; the id is what they enclose.
  const bare = reason === 'malformed_csv' ? fields.map((field) => field.replaceAll('"', '')) : fields;
  return {
    kind: 'rejected',
    rejected: {
      line,
      file,
      column: column?.header ?? null,
      reason,
      valueClass: describeFault(binding, record, fault),
      reference: readReference(binding, bare),
      fields: nameFields(binding.headers, fields),
      ...(record.isCut && { isCut: true }),
    },
  };
}

function describeFault({ headers }: PartyBinding, { fields }: TableRecord, fault: Fault): string | null {
  if (fault.column !== null) return classifyValue(fault.text);
  if (fault.reason !== 'wrong_column_count') return null;
  return `${fields.length} ${fields.length === 1 ? 'field' : 'fields'} for ${headers.length} columns`;
}

/** Every column has its field, however few the record has; what is left over stands together in one more. */
export function nameFields(headers: readonly string[], fields: readonly string[]): Readonly<Record<string, string>> {
  const named = headers.map((header, index) => [header, fields[index] ?? ''] as const);
  const surplus = fields.slice(headers.length).join(' | ');
  return Object.fromEntries(fields.length > headers.length ? [...named, [surplusColumn, surplus]] : named);
}

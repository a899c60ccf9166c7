import { type BoundColumn, type ColumnBinding, foldWord } from './bind-columns.js';
import { parseBirthDate } from './birth-date.js';
import { toCountryCode } from './country-code.js';
import type { Customer, PartyType, RejectReason, RiskTier, RosterRow } from './customer.js';

/** The longest customer id, in UTF-16 units: an index of the database must be able to hold it. */
const maxIdLength = 200;
/** The longest name, in characters. */
const maxNameLength = 500;

const controlCharacter = /[\p{Cc}\ufffd\u2028\u2029]/u;
const letterOrDigit = /[\p{L}\p{N}]/u;

/** Why a row is refused, and the column at fault where there is one. */
interface Fault {
  reason: RejectReason;
  column: string | null;
}

/** Makes a row's fields, in the order of the headers, a customer or a rejected row with the first fault found. */
export function checkRow(binding: ColumnBinding, line: number, fields: readonly string[]): RosterRow {
  if (fields.length !== binding.headers.length) {
    return rejectRow(binding, line, fields, { reason: 'wrong_column_count', column: null });
  }
  const customer = toCustomer(binding, fields);
  return 'reason' in customer ? rejectRow(binding, line, fields, customer) : { kind: 'customer', line, file: null, customer, fields };
}

/** Makes a row that is refused, keeping its fields and, where they or `idFields` show one, the customer's id. */
export function rejectRow(
  binding: ColumnBinding,
  line: number,
  fields: readonly string[],
  fault: Fault,
  idFields = fields,
): RosterRow {
  const named = fields.map((field, index) => [binding.headers[index] ?? `column ${index + 1}`, field] as const);
  const id = readId(binding, idFields);
  return {
    kind: 'rejected',
    rejected: {
      line,
      file: null,
      valueClass: null,
      column: fault.column,
      reason: fault.reason,
      reference: typeof id === 'string' ? id : null,
      fields: Object.fromEntries(named),
    },
  };
}

function toCustomer(binding: ColumnBinding, fields: readonly string[]): Customer | Fault {
  const reference = readId(binding, fields);
  if (typeof reference !== 'string') return reference;
  const name = readName(binding, fields);
  if (typeof name !== 'string') return name;
  const type = readType(binding, fields);
  if (typeof type !== 'string') return type;
  const birthDate = readBirthDate(binding, fields);
  if (birthDate !== null && typeof birthDate !== 'string') return birthDate;
  const countries = readCountries(binding, fields);
  if ('reason' in countries) return countries;
  const riskTier = readRiskTier(binding, fields);
  if (riskTier !== null && typeof riskTier !== 'string') return riskTier;
  const parties: Customer['parties'] = [{ role: 'customer', type, name, birthDate, countries }];
  const of = (header: string): string => (fields[binding.headers.indexOf(header)] ?? '').trim();
  const alias = of('alias');
  const all: Customer['parties'] =
    alias === '' ? parties : [parties[0], { role: 'alias', type, name: alias, birthDate, countries }];
  return {
    reference,
    riskTier,
    parties: all,
    isActive: of('active') !== 'no',
    endDate: of('end_date') || null,
    attributes: {},
  };
}

function readId(binding: ColumnBinding, fields: readonly string[]): string | Fault {
  const parts: string[] = [];
  for (const column of binding.id) {
    const part = readField(fields, column);
    if (part === '') return { reason: 'missing_id', column: column.header };
    if (controlCharacter.test(part)) return { reason: 'control_character', column: column.header };
    parts.push(part);
  }
  const id = parts.join(' ');
  return id.length > maxIdLength ? { reason: 'id_too_long', column: binding.id[0]?.header ?? null } : id;
}

function readName(binding: ColumnBinding, fields: readonly string[]): string | Fault {
  const parts: string[] = [];
  for (const column of binding.name) {
    const part = readField(fields, column);
    if (controlCharacter.test(part)) return { reason: 'control_character', column: column.header };
    if (part !== '') parts.push(part);
  }
  const name = parts.join(' ');
  const column = binding.name[0]?.header ?? null;
  if (name === '') return { reason: 'missing_name', column };
  if (name.length > maxNameLength && [...name].length > maxNameLength) return { reason: 'name_too_long', column };
  return letterOrDigit.test(name) ? name : { reason: 'name_without_letters', column };
}

function readType({ type }: ColumnBinding, fields: readonly string[]): PartyType | Fault {
  if ('value' in type) return type.value;
  const text = readField(fields, type.column);
  if (text === '') return { reason: 'missing_type', column: type.column.header };
  return type.words.get(foldWord(text)) ?? { reason: 'unknown_type', column: type.column.header };
}

function readBirthDate({ birthDate }: ColumnBinding, fields: readonly string[]): string | null | Fault {
  const text = birthDate === null ? '' : readField(fields, birthDate.column);
  if (birthDate === null || text === '') return null;
  return parseBirthDate(text, birthDate.format) ?? { reason: 'invalid_birth_date', column: birthDate.column.header };
}

function readCountries({ countries }: ColumnBinding, fields: readonly string[]): readonly string[] | Fault {
  const text = countries === null ? '' : readField(fields, countries);
  if (countries === null || text === '') return [];
  const codes = new Set<string>();
  for (const part of text.split(';')) {
    if (part.trim() === '') continue;
    const code = toCountryCode(part);
    if (code === null) return { reason: 'unknown_country', column: countries.header };
    codes.add(code);
  }
  return [...codes];
}

function readRiskTier({ riskTier }: ColumnBinding, fields: readonly string[]): RiskTier | null | Fault {
  const text = riskTier === null ? '' : readField(fields, riskTier.column);
  if (riskTier === null || text === '') return null;
  return riskTier.words.get(foldWord(text)) ?? { reason: 'unknown_risk_tier', column: riskTier.column.header };
}

function readField(fields: readonly string[], column: BoundColumn): string {
  return (fields[column.index] ?? '').trim();
}

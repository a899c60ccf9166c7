import * as crypto from 'node:crypto';
import { nameFields } from '../../roster/check-row.js';
import type { Customer, Party, PartyRow, Readings, RosterRow } from '../../roster/customer.js';
import { toScreeningRequest } from '../../roster/screening-request.js';
import type { SeatedParty } from '../../store/roster-settling.js';
import {
  fieldSeparator,
  rowSeparator,
  type StagedCustomer,
  type StagedReject,
  type StagedRelated,
  withoutNul,
} from '../../store/roster-staging.js';

const digestLength = 32;

/** Gives a row of a roster as it is staged; `today` (`yyyy-mm-dd`) says whose last day is over. */
export function toStagedRow(row: RosterRow, ordinal: number, today: string): StagedCustomer | StagedReject {
  if (row.kind === 'rejected') return { kind: 'rejected', ordinal, ...row.rejected };
  const { customer, line, file, fields, joined } = row;
  const [own] = customer.parties;
  const sentName = toScreeningRequest(own).name;
  const body = toBody(customer, sentName);
  const { said } = customer.readings;
  return {
    kind: 'customer',
    ordinal,
    line,
    file,
    reference: customer.reference,
    type: own.type,
    sentName,
    parties: customer.parties.length,
    riskTier: customer.riskTier,
    record: withoutNul(said === null ? `${body}}` : `${body},"said":${toSaid(said)}}`),
    recordDigest: digestRecord(`${inOneOrder(customer, sentName) ?? body}}`),
    leaves: toLeaving(customer, today),
    raw: joined ?? joinFields(fields),
  };
}

/** Gives a row of a source of related parties as it is staged. */
export function toStagedParty(
  row: PartyRow,
  ordinal: number,
  headers: readonly string[],
): StagedRelated | StagedReject {
  if (row.kind === 'rejected') return { kind: 'rejected', ordinal, ...row.rejected };
  const { line, file, related, fields } = row;
  return {
    kind: 'party',
    ordinal,
    line,
    file,
    reference: related.reference,
    party: toParty(related.party, related.readings),
    fields: nameFields(headers, fields),
  };
}

// Fields that hold what stands between them, or what no database stores, keep its visible symbol.
const joinFields = (fields: readonly string[]): string =>
  fields
    .map((field) =>
      field.replaceAll(fieldSeparator, '\u241f').replaceAll(rowSeparator, '\u241e').replaceAll('\0', '\u2400'),
    )
    .join(fieldSeparator);

/** Gives 32 hexadecimal digits of a text's SHA-256. */
export const digestRecord = (record: string): string => crypto.hash('sha256', record, 'hex').slice(0, digestLength);

function toLeaving({ isActive, endDate }: Customer, today: string): StagedCustomer['leaves'] {
  if (!isActive) return 'inactive';
  return endDate !== null && endDate < today ? 'end_date' : null;
}

const needsEscaping = /["\\\p{Cc}\p{Cs}]/u;

/** The same text as `JSON.stringify` gives, which takes three times as long over a million short names. */
const quote = (text: string): string => (needsEscaping.test(text) ? JSON.stringify(text) : `"${text}"`);

const quoteOrNull = (text: string | null): string => (text === null ? 'null' : quote(text));

/** The body with its aliases in an order of their own, which is no part of what it says; null where it is so already. */
function inOneOrder(customer: Customer, sentName: string): string | null {
  const [own, ...aliases] = customer.parties;
  if (aliases.length < 2) return null;
  const sorted = aliases.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return toBody({ ...customer, parties: [own, ...sorted] }, sentName);
}

/**
 * What a record says as JSON, but for its end; the same always gives the same text. What stands in the source for a fact that is read is no part
 * of it: a country by its code or by its name is the same country.
 */
function toBody({ riskTier, parties, isActive, endDate, attributes, readings }: Customer, sentName: string): string {
  let record = `{"riskTier":${quoteOrNull(riskTier)},"parties":[`;
  for (const party of parties) {
    record +=
      party === parties[0] ? toPartyJson(party, sentName) : `,${toPartyJson(party, toScreeningRequest(party).name)}`;
  }
  record += ']';
  // Only where the roster says so: without them the record is as it was before rosters could.
  if (!isActive) record += ',"isActive":false';
  if (endDate !== null) record += `,"endDate":${quote(endDate)}`;
  const kept = Object.keys(attributes);
  // In an order of their own: columns that have changed places are no change.
  if (kept.length > 0) record += `,"attributes":${JSON.stringify(attributes, kept.toSorted())}`;
  if (readings.doubts.length > 0) record += `,"doubts":${JSON.stringify(toDoubted(readings))}`;
  return record;
}

function toSaid(said: NonNullable<Readings['said']>): string {
  let json = '{';
  for (const [field, text] of Object.entries(said)) json += `${json === '{' ? '' : ','}"${field}":${quote(text)}`;
  return `${json}}`;
}

/** What stands in the source for each fact that is in doubt. */
function toDoubted({ doubts }: Readings): Record<string, string> {
  const doubted: Record<string, string> = {};
  for (const { field, value } of doubts) doubted[field] = field in doubted ? `${doubted[field]};${value}` : value;
  return doubted;
}

function toPartyJson({ role, type, name, birthDate, countries }: Party, sent: string): string {
  const quoted = quote(name);
  return `{"role":"${role}","type":"${type}","name":${quoted},"birthDate":${quoteOrNull(birthDate)},"countries":${toList(countries)},"sentName":${sent === name ? quoted : quote(sent)}}`;
}

function toList(countries: readonly string[]): string {
  if (countries.length === 0) return '[]';
  return `["${(countries.length === 1 ? countries : countries.toSorted()).join('","')}"]`;
}

function toParty(party: Party, readings: Readings): SeatedParty {
  const { doubts, said } = readings;
  return {
    ...party,
    countries: party.countries.toSorted(),
    sentName: toScreeningRequest(party).name,
    ...(doubts.length > 0 && { doubts: toDoubted(readings) }),
    ...(said !== null && { said }),
  };
}

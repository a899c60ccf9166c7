import type { CustomerBinding, RelatedBinding } from './bind-columns.js';
import type { Customer, Party, RelatedParty } from './customer.js';
import { Fault } from './fault.js';
import type { BoundColumn } from './find-columns.js';
import { maxParties } from './max-parties.js';
import { isPlaceholderName } from './placeholder-names.js';
import { readAliases, readCountries, readDate, readField, readId, readName, readWord } from './read-fields.js';
import { toRequestKey } from './screening-request.js';

const noAttributes: Customer['attributes'] = Object.freeze({});

/** Makes the fields of a row a customer, or gives the first fault found. */
export function toCustomer(binding: CustomerBinding, fields: readonly string[]): Customer | Fault {
  const reference = readId(binding.id, fields);
  if (typeof reference !== 'string') return reference;
  const party = toParty(binding, 'customer', fields);
  if (party instanceof Fault) return party;
  const riskTier = readWord(binding.riskTier, fields, 'unknown_risk_tier');
  if (riskTier instanceof Fault) return riskTier;
  const isActive = readWord(binding.standing, fields, 'unknown_standing');
  if (isActive instanceof Fault) return isActive;
  const endDate = readDate(binding.endDate, fields, 'invalid_end_date');
  if (endDate instanceof Fault) return endDate;
  if (endDate !== null && binding.endDate !== null && endDate.length < 10) {
    return new Fault('invalid_end_date', binding.endDate.column, readField(fields, binding.endDate.column));
  }
  const parties = withAliases(binding, party, fields);
  if (parties instanceof Fault) return parties;
  const attributes = binding.attributes.length === 0 ? noAttributes : readAttributes(binding.attributes, fields);
  return { reference, riskTier, parties, isActive: isActive ?? true, endDate, attributes };
}

/** Makes the fields of a row a further party of a customer, or gives the first fault found. */
export function toRelatedParty(binding: RelatedBinding, fields: readonly string[]): RelatedParty | Fault {
  const reference = readId(binding.id, fields);
  if (typeof reference !== 'string') return reference;
  const { column, read, absent } = binding.role;
  const role = column === null ? absent : read(readField(fields, column));
  // What a party is to the customer is not sent: whatever it is, the name is searched for.
  const party = toParty(binding, role ?? 'other', fields);
  return party instanceof Fault ? party : { reference, party };
}

function toParty(
  binding: CustomerBinding | RelatedBinding,
  role: Party['role'],
  fields: readonly string[],
): Party | Fault {
  const name = readName(binding.name, fields);
  if (typeof name !== 'string') return name;
  const type = readWord(binding.type, fields, 'unknown_type');
  if (type instanceof Fault) return type;
  if (type === null) return new Fault('missing_type', binding.type.column, '');
  const { columns } = binding.name;
  const parts = columns.length > 1 ? columns.map((column) => readField(fields, column)) : [];
  if (isPlaceholderName(name, type, parts, binding.realNames)) {
    return new Fault('missing_name', columns[0] ?? null, name);
  }
  const birthDate = readDate(binding.birthDate, fields, 'invalid_birth_date');
  if (birthDate instanceof Fault) return birthDate;
  const countries = readCountries(binding.countries, fields);
  if (countries instanceof Fault) return countries;
  return { role, type, name, birthDate, countries };
}

/** An alias that is the same search as a name before it is no party of its own. */
function withAliases(
  { aliases }: CustomerBinding,
  party: Party,
  fields: readonly string[],
): Customer['parties'] | Fault {
  if (aliases === null) return [party];
  const names = readAliases(aliases, fields);
  if (names instanceof Fault) return names;
  if (names.length === 0) return [party];
  const known = new Set([toRequestKey(party)]);
  const others: Party[] = [];
  for (const name of names) {
    const key = toRequestKey({ type: party.type, name });
    if (known.has(key)) continue;
    known.add(key);
    others.push({ ...party, role: 'alias', name });
  }
  if (others.length >= maxParties) {
    return new Fault('too_many_parties', aliases.columns[0] ?? null, '');
  }
  return [party, ...others];
}

function readAttributes(columns: readonly BoundColumn[], fields: readonly string[]): Customer['attributes'] {
  const attributes: Record<string, string> = {};
  for (const column of columns) {
    const text = readField(fields, column);
    if (text !== '') attributes[column.header] = text;
  }
  return attributes;
}

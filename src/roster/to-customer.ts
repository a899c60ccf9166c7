import type { CustomerBinding, RelatedBinding } from './bind-columns.js';
import type { Customer, Party, RelatedParty } from './customer.js';
import { RowReadings } from './doubts.js';
import { Fault } from './fault.js';
import type { BoundColumn } from './find-columns.js';
import { maxParties } from './max-parties.js';
import {
  readAliases,
  readCountries,
  readDate,
  readFactWord,
  readField,
  readId,
  readName,
  readWord,
} from './read-fields.js';
import { toRequestKey } from './screening-request.js';

const noAttributes: Customer['attributes'] = Object.freeze({});

/** Makes the fields of a row a customer, or gives the fault for which it is none; a fact that is no part of a request is in doubt at most. */
export function toCustomer(binding: CustomerBinding, fields: readonly string[]): Customer | Fault {
  const reference = readId(binding.id, fields);
  if (typeof reference !== 'string') return reference;
  const readings = new RowReadings();
  const party = toParty(binding, 'customer', fields, readings);
  if (party instanceof Fault) return party;
  const riskTier = readFactWord(binding.riskTier, fields, readings, ['riskTier', 'unknown_risk_tier']);
  const isActive = readFactWord(binding.standing, fields, readings, ['active', 'unknown_standing']);
  const endDate = readDate(binding.endDate, fields, readings, 'endDate');
  const parties = withAliases(binding, party, fields, readings);
  if (parties instanceof Fault) return parties;
  const attributes = binding.attributes.length === 0 ? noAttributes : readAttributes(binding.attributes, fields);
  return { reference, riskTier, parties, isActive: isActive ?? true, endDate, attributes, readings };
}

/** Makes the fields of a row a further party of a customer, or gives the first fault found. */
export function toRelatedParty(binding: RelatedBinding, fields: readonly string[]): RelatedParty | Fault {
  const reference = readId(binding.id, fields);
  if (typeof reference !== 'string') return reference;
  const role = readWord(binding.role, fields, 'unknown_role');
  if (role instanceof Fault) return role;
  if (role === null) return new Fault('unknown_role', binding.role.column, '');
  const readings = new RowReadings();
  const party = toParty(binding, role, fields, readings);
  return party instanceof Fault ? party : { reference, party, readings };
}

function toParty(
  binding: CustomerBinding | RelatedBinding,
  role: Party['role'],
  fields: readonly string[],
  readings: RowReadings,
): Party | Fault {
  const name = readName(binding.name, fields);
  if (typeof name !== 'string') return name;
  const type = readWord(binding.type, fields, 'unknown_type');
  if (type instanceof Fault) return type;
  if (type === null) return new Fault('missing_type', binding.type.column, '');
  const birthDate = readDate(binding.birthDate, fields, readings, 'birthDate');
  const countries = readCountries(binding.countries, fields, readings);
  return { role, type, name, birthDate, countries };
}

/** An alias that is the same search as a name before it is no party of its own. */
function withAliases(
  { aliases }: CustomerBinding,
  party: Party,
  fields: readonly string[],
  readings: RowReadings,
): Customer['parties'] | Fault {
  if (aliases === null) return [party];
  const names = readAliases(aliases, fields, readings);
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

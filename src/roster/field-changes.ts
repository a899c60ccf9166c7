import type { FactsOf } from '../vocabulary/facts.js';
import type { fieldChangesSchema, rosterChangesSchema } from '../vocabulary/source-facts.js';
import { type ChangeWay, type RecordField, recordFields } from '../vocabulary.js';
import { count, digest, exchangeDayAndMonth } from './change-guards.js';
import { type ComparedParty, type ComparedRecord, isSameName } from './compare-records.js';

/** The changed values of a field, and what some of them have in common. */
export type FieldChanges = FactsOf<typeof fieldChangesSchema>;

/** How imports changed a roster. */
export type RosterChanges = FactsOf<typeof rosterChangesSchema>;

/** Counts the changed values of known customers by field, and what they have in common. */
export class FieldTally {
  readonly #counts = new Map<RecordField, FieldCount>();

  add(before: ComparedRecord, after: ComparedRecord): void {
    this.#addValue('risk_tier', before.riskTier ?? '', after.riskTier ?? '');
    const replaced = new Set<RecordField>();
    const places = Math.max(before.parties.length, after.parties.length);
    for (let place = 0; place < places; place += 1) {
      const former = before.parties[place] ?? null;
      const now = after.parties[place] ?? null;
      const role = (now ?? former)?.role ?? 'customer';
      if (former === null || now === null) {
        if (role === 'alias') replaced.add('aliases');
        else if (role !== 'customer' && former !== now) replaced.add('related_parties');
      } else if (role !== 'alias') this.#addParty(former, now);
    }
    for (const field of replaced) this.#open(field).values += 1;
  }

  list(): readonly FieldChanges[] {
    return recordFields.flatMap((field) => {
      const counted = this.#counts.get(field);
      return counted === undefined ? [] : [{ field, values: counted.values, ways: listWays(counted) }];
    });
  }

  #addParty(former: ComparedParty, now: ComparedParty): void {
    this.#addValue('name', former.name, now.name);
    this.#addValue('type', former.type, now.type);
    this.#addValue('birth_date', former.birthDate ?? '', now.birthDate ?? '');
    this.#addValue('countries', former.countries.join(';'), now.countries.join(';'));
  }

  #addValue(field: RecordField, former: string, now: string): void {
    if (former === now) return;
    const counted = this.#open(field);
    counted.values += 1;
    const way = findWay(field, former, now);
    if (way !== null) count(counted.ways, way);
    // A digest of a name saves memory.
    count(counted.taken, field === 'name' ? digest(now) : now);
  }

  #open(field: RecordField): FieldCount {
    const known = this.#counts.get(field);
    if (known !== undefined) return known;
    const counted = { values: 0, ways: new Map<ChangeWay, number>(), taken: new Map<string | number, number>() };
    this.#counts.set(field, counted);
    return counted;
  }
}

interface FieldCount {
  values: number;
  ways: Map<ChangeWay, number>;
  /** How often each new value was taken. */
  taken: Map<string | number, number>;
}

function listWays({ ways, taken }: FieldCount): FieldChanges['ways'] {
  const shared = [...ways].map(([way, values]) => ({ way, value: null, values }));
  const [value, values] = [...taken].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0]);
  if (values < 2 || value === '') return shared;
  return [...shared, { way: 'same_value', value: typeof value === 'string' ? value : null, values }];
}

function findWay(field: RecordField, former: string, now: string): ChangeWay | null {
  if (now === '') return 'lost';
  if (field === 'birth_date') return findDateWay(former.replace('?', ''), now.replace('?', ''));
  if (field !== 'name') return null;
  if (former.toLowerCase() === now.toLowerCase()) return 'other_case';
  return isSameName(former, now) ? 'other_spelling' : null;
}

const dayMs = 86_400_000;

function findDateWay(former: string, now: string): ChangeWay | null {
  if (now === exchangeDayAndMonth(former)) return 'day_and_month_exchanged';
  const isWhole = former.length === now.length && now.length === 'yyyy-mm-dd'.length;
  if (!isWhole) return null;
  const days = (Date.parse(now) - Date.parse(former)) / dayMs;
  if (days === 1) return 'one_day_later';
  if (days === -1) return 'one_day_earlier';
  const years = Math.abs(Number(now.slice(0, 4)) - Number(former.slice(0, 4)));
  return years === 100 && now.slice(4) === former.slice(4) ? 'other_century' : null;
}

import type { FieldChanges, RosterChanges } from '../roster/field-changes.js';
import { codeWords } from '../vocabulary/words.js';
import { type ChangeWay, recordFields } from '../vocabulary.js';
import type { RunFacts } from './run-facts.js';
import { countNoun, formatCount, keep } from './text.js';
import { describeBirthDate } from './words.js';

/** The changes of all imports in one, and a sentence for each mass among them. */
export type RosterSum = RosterChanges & { inBulk: readonly string[] };

/** Adds the changes of the imports that a report covers; null where there are none. */
export function sumRosterChanges({ rosterChanges, span }: Pick<RunFacts, 'rosterChanges' | 'span'>): RosterSum | null {
  const sum = addRosterChanges(rosterChanges);
  if (sum === null) return null;
  // Many ordinary nights of a span are no mass.
  const judged = span === null ? [sum] : rosterChanges;
  return { ...sum, inBulk: judged.flatMap(describeMassChanges) };
}

function addRosterChanges(imports: readonly RosterChanges[]): RosterChanges | null {
  return imports.reduce<RosterChanges | null>((sum, one) => {
    if (sum === null) return one;
    return {
      known: sum.known,
      joined: sum.joined + one.joined,
      missing: sum.missing + one.missing,
      offboarded: sum.offboarded + one.offboarded,
      returned: sum.returned + one.returned,
      reread: [...new Set([...sum.reread, ...one.reread])],
      fields: addFields([...sum.fields, ...one.fields]),
    };
  }, null);
}

function addFields(all: readonly FieldChanges[]): readonly FieldChanges[] {
  return recordFields.flatMap((field) => {
    const same = all.filter((one) => one.field === field);
    const values = same.reduce((sum, one) => sum + one.values, 0);
    return values === 0 ? [] : [{ field, values, ways: addWays(same.flatMap(({ ways }) => ways)) }];
  });
}

function addWays(all: FieldChanges['ways']): FieldChanges['ways'] {
  const sums = new Map<string, FieldChanges['ways'][number]>();
  for (const one of all) {
    const key = `${one.way} ${one.value ?? ''}`;
    sums.set(key, { ...one, values: one.values + (sums.get(key)?.values ?? 0) });
  }
  return [...sums.values()];
}

function countValues({ field, values }: FieldChanges): string {
  const [one, several] = codeWords.recordField[field];
  return countNoun(values, one, several);
}

const wayWords: Readonly<Record<Exclude<ChangeWay, 'same_value'>, string>> = {
  one_day_later: 'are one day later',
  one_day_earlier: 'are one day earlier',
  day_and_month_exchanged: 'have day and month exchanged',
  other_century: 'are of another century',
  other_case: 'differ only in upper and lower case',
  other_spelling: 'differ only in accents or the order of words',
  lost: 'are empty now',
};

/** All counts in one line: `900 customers joined, 3 missing; changed: 15 birth dates`. */
export function describeRosterChanges({
  joined,
  missing,
  offboarded,
  returned,
  reread,
  fields,
}: RosterChanges): string {
  const moved = keep(
    joined > 0 && `${countNoun(joined, 'customer')} joined`,
    missing > 0 && `${formatCount(missing)} missing in the source`,
    offboarded > 0 && `${formatCount(offboarded)} offboarded`,
    returned > 0 && `${formatCount(returned)} returned`,
  );
  const changed = fields.map(countValues);
  const parts = keep(
    moved.join(', '),
    changed.length > 0 && `changed: ${changed.join(', ')}`,
    reread.length > 0 && `with another mapping of ${reread.join(', ')}`,
  );
  return parts.length === 0 ? 'none' : parts.join('; ');
}

/** More than this share of the customers, from so many on, is a mass. */
const massShare = 0.005;
const massCustomers = 20;
/** So many values that changed in one way are a mass. */
const massValues = 10;
/** These ways are usual for a few corrected dates only; in other ways most changes of a busy night may be alike. */
const rareWays: readonly ChangeWay[] = ['one_day_later', 'one_day_earlier', 'day_and_month_exchanged', 'other_century'];

/** A sentence for each mass among the changes; empty on an ordinary night. */
function describeMassChanges(changes: RosterChanges): readonly string[] {
  const { known, joined, missing, offboarded, returned, fields } = changes;
  const ofKnown = (count: number): string =>
    known === 0 ? '' : `, ${Number(((100 * count) / known).toPrecision(2))} % of the roster`;
  const isMass = (count: number): boolean => count >= massCustomers && count > massShare * known;
  const moved = [
    [joined, 'joined'],
    [missing, 'are missing in the source'],
    [offboarded, 'are offboarded'],
    [returned, 'returned'],
  ] as const;
  return [
    ...moved
      .filter(([count]) => isMass(count))
      .map(([count, what]) => `${countNoun(count, 'customer')} ${what}${ofKnown(count)}.`),
    ...fields.flatMap((changed) => {
      const ways = changed.ways.filter((one) => isMassWay(one, changed)).map((one) => describeWay(one, changed));
      if (ways.length > 0 || !isMass(changed.values)) return ways;
      return [`${countValues(changed)} changed${ofKnown(changed.values)}.`];
    }),
  ];
}

function isMassWay({ way, values }: FieldChanges['ways'][number], changed: FieldChanges): boolean {
  return values >= massValues && (rareWays.includes(way) || 10 * values >= 9 * changed.values);
}

function describeWay(
  { way, value, values }: FieldChanges['ways'][number],
  { field, values: all }: FieldChanges,
): string {
  const [, nouns] = codeWords.recordField[field];
  const which = values === all ? `All ${formatCount(all)}` : `${formatCount(values)} of ${formatCount(all)}`;
  const what =
    way === 'same_value' ? `are ${value === null ? 'the same' : describeBirthDate(value)} now` : wayWords[way];
  return `${which} changed ${nouns} ${what}.`;
}

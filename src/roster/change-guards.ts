import {
  type ComparedRecord,
  compareRecords,
  findOthers,
  findOwn,
  type RereadFacts,
  toKey,
  toReread,
  toTokens,
} from './compare-records.js';
import { assessShare, type GuardVerdict, type Limit, type WrittenGuards } from './guards.js';

/** A known customer whose record the snapshot changes or a snapshot of the last seven days changed. */
interface ComparedCustomer {
  reference: string;
  /** Whether the customer has an alert or a disposition. */
  hasAlerts: boolean;
  known: ComparedRecord;
  /** The record of the snapshot; null when it is unchanged. */
  next: ComparedRecord | null;
  /** The record of seven days ago; null when it has not changed since. */
  weekAgo: ComparedRecord | null;
}

/** Whether the name has lost its end, as that of the last row of a file that is cut off. */
export function hasLostNameEnd({ known, next }: ComparedCustomer): boolean {
  const before = findOwn(known)?.name ?? '';
  const after = next === null ? before : (findOwn(next)?.name ?? '');
  return after.length < before.length && before.startsWith(after);
}

interface ScreenedFacts {
  name: string;
  type: string;
  birthDate: string | null;
  countries: readonly string[];
  parties: readonly string[];
}

/** A changed customer with the screened facts before and after. */
export interface ChangeExample {
  reference: string;
  before: ScreenedFacts;
  after: ScreenedFacts;
}

interface ChangeScale {
  /** Customers of the last snapshot, without offboarded ones. */
  known: number;
  /** Customers with an alert or a decision. */
  withAlerts: number;
  /** Whether any customer of the snapshot has a birth date. */
  hasBirthDates: boolean;
  /** Rows whose name is the id of a known customer. */
  namesAsIds: number;
  /** The column that holds the former names of most customers of `sample`, and their number; null for none. */
  movedTo: { column: string; customers: number } | null;
}

const mostExamples = 20;
const mostSampled = 200;
/** Fewer customers than this may look alike by chance. */
const fewest = 5;
/** So many changed customers, or customers with an alert, pass whatever their share is. */
const fewChanged = 20;
const fewWithAlerts = 4;

const isMost = (part: number, whole: number): boolean => part >= fewest && 2 * part > whole;

/** Countries change more often than names, and the customers with alerts are few. */
const leastRarerShare = 0.05;
const toRarer = (limit: Limit): Limit =>
  limit.share > leastRarerShare
    ? limit
    : { ...limit, share: leastRarerShare, words: `or ${limit.words} where it is more` };

const whatChanged = 'known customers have another name, type, birth date or party, or lost a value';
const lookAtChanges = 'check the changes: was a column mapped, truncated, filled or sorted differently?';
const whatCountries = 'known customers have other countries';
const lookAtCountries = 'check whether the column of countries still has the same meaning';
const inWeek = <Finding extends { what: string; look: string }>(finding: Finding): Finding => ({
  ...finding,
  what: `${finding.what}, within seven days`,
  look: 'check whether exports have changed some customers each night',
});
const lookAtColumns = "check whether the columns of the file are in another order, or have each other's headers";

/** Sums the changes of known customers, one customer after another. */
export class ChangeTally {
  /** The first renamed customers, with their former names. */
  readonly sample: { reference: string; before: string }[] = [];
  // `reordered`: only the order of the words of the name changed.
  readonly #examples: Readonly<Record<'alerts' | 'others' | 'reordered', ChangeExample[]>> = {
    alerts: [],
    others: [],
    reordered: [],
  };
  readonly #counts = { changed: 0, countries: 0, changedInWeek: 0, countriesInWeek: 0, withAlerts: 0 };
  readonly #names = { changed: 0, reordered: 0 };
  readonly #births = { changed: 0, exchanged: 0, lost: 0 };
  readonly #net = new Map<string, number>();
  readonly #givenUp = new Map<number, number>();
  readonly #taken = new Map<number, number>();
  readonly #cut = new Map<string, number>();
  /** New birth dates of customers without a former one. */
  readonly #filled = new Map<string, number>();
  #personsTurned = 0;

  readonly #paths: readonly string[];
  readonly #reread: RereadFacts;
  readonly #rereadInWeek: RereadFacts;

  /** Gets the paths of settings that have changed since the last import, and within seven days. */
  constructor({ reread, rereadInWeek }: { reread: readonly string[]; rereadInWeek: readonly string[] }) {
    this.#paths = reread;
    this.#reread = toReread(reread);
    this.#rereadInWeek = toReread(rereadInWeek);
  }

  add({ reference, hasAlerts, known, next, weekAgo }: ComparedCustomer): void {
    const after = next ?? known;
    if (weekAgo !== null || next !== null) {
      const week = compareRecords(weekAgo ?? known, after, this.#rereadInWeek);
      if (week.isMaterial) this.#counts.changedInWeek += 1;
      if (week.areCountries) this.#counts.countriesInWeek += 1;
    }
    if (next === null) return;
    const currentRun = compareRecords(known, next, this.#reread);
    if (currentRun.isMaterial) this.#counts.changed += 1;
    if (currentRun.areCountries) this.#counts.countries += 1;
    if (currentRun.isMaterial && hasAlerts) this.#counts.withAlerts += 1;
    const isReordered = this.#addShapes(reference, known, next);
    if (!currentRun.isMaterial && !currentRun.areCountries && !isReordered) return;
    const list =
      this.#examples[
        currentRun.isMaterial || currentRun.areCountries ? (hasAlerts ? 'alerts' : 'others') : 'reordered'
      ];
    if (list.length < mostExamples) list.push({ reference, before: toFacts(known), after: toFacts(next) });
  }

  get losesBirthDates(): boolean {
    return this.#births.lost >= fewest;
  }

  mayBeSwapped(known: number): boolean {
    return this.#names.changed >= fewest && 3 * this.#names.changed > known;
  }

  /** Gives the current column with most former names of `sample`, and their number; null for none. */
  findMovedNames(rows: ReadonlyMap<string, Readonly<Record<string, string>>>): ChangeScale['movedTo'] {
    const found = new Map<string, number>();
    for (const { reference, before } of this.sample) {
      const column = findNameColumn(rows.get(reference) ?? {}, before);
      if (column !== null) count(found, column);
    }
    const [most] = [...found].toSorted(([, one], [, other]) => other - one);
    return most === undefined ? null : { column: most[0], customers: most[1] };
  }

  listExamples(): readonly ChangeExample[] {
    const { alerts, others, reordered } = this.#examples;
    return [...alerts, ...others, ...reordered].slice(0, mostExamples);
  }

  /** Gives the findings: what the changes look like, and how many they are. A share of 1 lets all of them pass. */
  assess(scale: ChangeScale, { maxChangedShare, path }: WrittenGuards): readonly GuardVerdict[] {
    if (maxChangedShare >= 1) return [];
    const { changed, countries, changedInWeek, countriesInWeek, withAlerts } = this.#counts;
    const { known } = scale;
    const key = `${path}.maxChangedShare`;
    const night: Limit = { share: maxChangedShare, words: key, count: fewChanged };
    const week: Limit = { ...night, words: `3 times ${key}`, times: 3 };
    const ofAll = { guard: 'changed', what: whatChanged, look: lookAtChanges } as const;
    const ofCountries = { guard: 'changed', what: whatCountries, look: lookAtCountries } as const;
    const verdicts = [
      assessShare(changed, known, night, ofAll) ?? assessShare(changedInWeek, known, week, inWeek(ofAll)),
      assessShare(countries, known, toRarer(night), ofCountries) ??
        assessShare(countriesInWeek, known, toRarer(week), inWeek(ofCountries)),
      assessShare(withAlerts, scale.withAlerts, toRarer({ ...night, count: fewWithAlerts }), {
        guard: 'changed_alerts',
        what: 'customers with alerts or dispositions are changed',
        look: 'check the changes: a changed record must not remove an alert of a customer',
      }),
    ];
    const found = [...this.#assessShapes(scale), ...verdicts.filter((verdict) => verdict !== null)];
    if (this.#paths.length === 0) return found;
    const reread = `The mapping of ${this.#paths.join(', ')} has changed; other values that it reads are not counted here`;
    return found.map(({ look, ...rest }) => ({ ...rest, look: `${look}${look.endsWith('?') ? '' : '.'} ${reread}` }));
  }

  #addShapes(reference: string, known: ComparedRecord, next: ComparedRecord): boolean {
    for (const [column, isFilled] of filledColumns) {
      const net = Number(isFilled(next)) - Number(isFilled(known));
      if (net !== 0) this.#net.set(column, (this.#net.get(column) ?? 0) + net);
    }
    const before = findOwn(known);
    const after = findOwn(next);
    if (before === null || after === null) return false;
    const isTurned = before.type === 'person' && after.type === 'entity';
    if (isTurned && !this.#reread.own.has('type')) this.#personsTurned += 1;
    if (before.birthDate !== after.birthDate) {
      this.#births.changed += 1;
      if (before.birthDate === null && after.birthDate !== null) count(this.#filled, after.birthDate);
      if (after.birthDate === null) this.#births.lost += 1;
      const isReread = this.#reread.own.has('birthDate');
      if (!isReread && after.birthDate !== null && after.birthDate === exchangeDayAndMonth(before.birthDate))
        this.#births.exchanged += 1;
    }
    return before.name !== after.name && this.#addName(reference, before.name, after.name);
  }

  #addName(reference: string, before: string, after: string): boolean {
    const [former, now] = [toTokens(before), toTokens(after)];
    const [formerKey, key] = [toKey(former), toKey(now)];
    if (formerKey === key) {
      const isReordered = former.join(' ') !== now.join(' ');
      if (isReordered) this.#names.reordered += 1;
      return isReordered;
    }
    this.#names.changed += 1;
    if (this.sample.length < mostSampled) this.sample.push({ reference, before: formerKey });
    count(this.#givenUp, digest(formerKey));
    count(this.#taken, digest(key));
    for (const cut of findCuts(before, after)) count(this.#cut, cut);
    return false;
  }

  /** Few changes hold as well where they look like a mistake. */
  #assessShapes({ known, hasBirthDates, namesAsIds, movedTo }: ChangeScale): readonly GuardVerdict[] {
    const { changed, reordered } = this.#names;
    const shapes: GuardVerdict[] = [];
    const add = (message: string, look: string): void => {
      shapes.push({ guard: 'changed', message, look });
    };
    const isSwapped = movedTo !== null && isMost(movedTo.customers, this.sample.length);
    if (isSwapped) {
      const which = `the former names of ${movedTo.customers} of ${this.sample.length} renamed customers`;
      add(`${which} are in column ${JSON.stringify(movedTo.column.slice(0, 60))}: columns are swapped`, lookAtColumns);
    }
    if (isMost(namesAsIds, known)) {
      add(`${namesAsIds} rows have the id of a known customer as their name: columns are swapped`, lookAtColumns);
    }
    const of = `of ${known} known customers`;
    const moved = this.#countMoved();
    const cut = this.#findCut();
    if (moved >= fewest && 10 * moved > changed) {
      add(
        `${moved} ${of} have the name that another one had: names are moved against the ids`,
        'check whether one column was sorted without the others, as in a spreadsheet',
      );
    } else if (cut !== null && isMost(cut.customers, changed)) {
      add(
        `${cut.customers} ${of} have a name that ends after ${cut.length} characters of ${cut.of}: names are cut`,
        'check whether the export truncates names at a fixed length',
      );
    } else if (isMost(changed, known) && !isSwapped) {
      add(
        `${changed} ${of} have another name: all names are replaced`,
        'check whether the name comes from another column, or names were made anonymous',
      );
    }
    if (reordered >= fewest && 3 * reordered > known) {
      add(
        `${reordered} ${of} have the words of their name in another order: first and last name are exchanged`,
        'check whether the mapping of first and last name still fits',
      );
    }
    if (this.#personsTurned >= fewest && 5 * this.#personsTurned > known) {
      add(
        `${this.#personsTurned} ${of} were persons and are entities`,
        'check whether the column of the type and its mapped words still mean the same',
      );
    }
    this.#assessBirthDates(hasBirthDates, add);
    for (const [column, net] of this.#net) {
      if (-net < fewest || -20 * net <= known) continue;
      add(`${-net} ${of} fewer have a value of ${column}`, 'check whether the export still fills this column');
    }
    return shapes;
  }

  #assessBirthDates(hasBirthDates: boolean, add: (message: string, look: string) => void): void {
    const { changed, exchanged, lost } = this.#births;
    if (isMost(exchanged, changed)) {
      add(
        `${exchanged} of ${changed} changed birth dates have day and month exchanged`,
        'check whether the format of birth dates still fits',
      );
    }
    const filled = [...this.#filled.values()].reduce((sum, customers) => sum + customers, 0);
    const [date, same] = [...this.#filled].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0]);
    if (isMost(same, filled)) {
      add(
        `${same} of ${filled} known customers who had no birth date have the same one now, ${date}`,
        'check whether the date is only a default for unknown ones',
      );
    }
    if (this.losesBirthDates && !hasBirthDates) {
      add(
        `${lost} known customers lost their birth date, and no row has one`,
        'check whether the export still fills the column of birth dates',
      );
    }
  }

  #countMoved(): number {
    let moved = 0;
    for (const [key, given] of this.#givenUp) moved += Math.min(given, this.#taken.get(key) ?? 0);
    return moved;
  }

  /** Finds the most frequent length of truncated names; a trimmed space makes some one character shorter. */
  #findCut(): { customers: number; length: number; of: string } | null {
    let found: { customers: number; length: number; of: string } | null = null;
    for (const [cut, ended] of this.#cut) {
      const [of = '', length = ''] = cut.split(' ');
      const customers = ended + (this.#cut.get(`${of} ${Number(length) - 1}`) ?? 0);
      if (found === null || customers > found.customers) found = { customers, length: Number(length), of: `the ${of}` };
    }
    return found;
  }
}

function findNameColumn(fields: Readonly<Record<string, string>>, name: string): string | null {
  for (const [column, field] of Object.entries(fields))
    if (field !== '' && toKey(toTokens(field)) === name) return column;
  return null;
}

function toFacts(record: ComparedRecord): ScreenedFacts {
  const own = findOwn(record);
  const parties = findOthers(record).map(({ role, name }) => `${role}: ${name}`);
  return {
    name: own?.name ?? '',
    type: own?.type ?? '',
    birthDate: own?.birthDate ?? null,
    countries: own?.countries ?? [],
    parties,
  };
}

const offset = 0x811c9dc5;
const prime = 0x01000193;

/** A number that replaces a name to save memory: among a million names collisions are too rare to matter. */
export function digest(text: string): number {
  let hash = offset;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  return hash;
}

/** Counts one more of a key. */
export function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The lengths at which a name is truncated against its former one: as a whole, or in one of its words. */
function findCuts(before: string, after: string): readonly string[] {
  const cuts: string[] = [];
  if (after.length < before.length && before.startsWith(after)) cuts.push(`name ${after.length}`);
  const [former, now] = [before.split(/\s+/), after.split(/\s+/)];
  if (former.length !== now.length || !now.every((word, index) => former[index]?.startsWith(word))) return cuts;
  const lengths = new Set(now.flatMap((word, index) => (word === former[index] ? [] : [word.length])));
  return lengths.size === 1 ? [...cuts, ...[...lengths].map((length) => `word ${length}`)] : cuts;
}

/** The date with day and month exchanged; null where that is the same date or none. */
export function exchangeDayAndMonth(date: string | null): string | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date ?? '') ?? [];
  return year === undefined || month === day || Number(day) > 12 ? null : `${year}-${day}-${month}`;
}

/** Whether a record has a value of each column of which many may be lost. */
const filledColumns: readonly (readonly [column: string, isFilled: (record: ComparedRecord) => boolean])[] = [
  ['birth_date', (record) => (findOwn(record)?.birthDate ?? null) !== null],
  ['countries', (record) => (findOwn(record)?.countries.length ?? 0) > 0],
  ['risk_tier', ({ riskTier }) => riskTier !== null],
  ['aliases', ({ parties }) => parties.some((party) => party?.role === 'alias')],
];

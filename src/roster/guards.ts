import { z } from 'zod';
import type { HeldBy } from '../errors.js';
import { describeFormats } from '../vocabulary/date-formats.js';
import type { ColumnDoubts } from './doubts.js';
import { quoteAll } from './table-reading.js';

/** The guards that may hold a roster; the codes are stable and stored with an import that overrode them. */
type GuardName =
  | 'empty'
  | 'rejects'
  | 'doubts'
  | 'duplicates'
  | 'shrink_night'
  | 'shrink_30_days'
  | 'party_shrink'
  | 'growth'
  | 'columns'
  | 'unmapped_columns'
  | 'cut_off'
  | 'control_total'
  | 'changed'
  | 'changed_alerts';

/** What a guard finds; one guard may have several findings, each with what to check. */
export interface GuardVerdict extends HeldBy {
  guard: GuardName;
}

/** The figures of a snapshot that guards compare with their limits. */
export interface GuardFigures {
  rows: number;
  customers: number;
  rejected: number;
  duplicates: number;
  partyRows: number;
  partyRejected: number;
  joined: number;
  newlyAbsent: number;
  leaversByRow: number;
  isFirst: boolean;
  isDelta: boolean;
  /** A test key of an organisation that has never used a live one: then the quality of a first import only warns. */
  isTrial: boolean;
  /** What an earlier import let through in the same way: such rows are no reason to hold the roster again. */
  accepted?: AcceptedQuality | undefined;
  /** Whether the rows are re-imported rejects of this roster. */
  isFedBack: boolean;
  known: number;
  mostIn30Days: number | null;
  headers: readonly string[];
  headersBefore: readonly string[] | null;
  /** Accepted rows of related parties of the last snapshot, and the columns of their sources in both snapshots. */
  partyRowsBefore: number;
  partyHeaders: readonly string[];
  partyHeadersBefore: readonly string[] | null;
  /** Whether a column of the roster, or of a source of related parties, is read; other columns may change freely. */
  isRead: (header: string) => boolean;
  isPartyRead: (header: string) => boolean;
  /** Messages about columns that look like an unmapped fact. */
  unmapped: readonly string[];
  /** Messages about files that end within a known customer's row, or within any row in a first snapshot. */
  cutOff: readonly string[];
  /** With a live key, an unmapped fact holds the roster. */
  isLive: boolean;
  doubts: readonly ColumnDoubts[];
  /** The row count that the source states: null when it states none, absent when no control total is configured. */
  controlTotal?: number | null;
}

/** Rows of a snapshot that an earlier import had as well, and that were accepted with it. */
export interface AcceptedQuality {
  rejected: number;
  partyRejected: number;
  duplicates: number;
  doubts: readonly ColumnDoubts[];
}

/** Guards of the quality of rows; such rows are listed in each report. */
const qualityGuards: readonly GuardName[] = ['rejects', 'doubts', 'duplicates'];

/** So many rows or customers pass whatever their share is. */
const few = 5;
/** Shares of bad rows are judged from so many rows on; in a smaller roster only a majority is too many. */
const sharesFromRows = 200;
const most = 0.5;
/** A roster of fewer customers may grow as it likes. */
const growthFromCustomers = 1_000;

/**
 * Gives every finding of a snapshot's guards, those of its changes included; one that does not hold is a warning. A
 * delta is not compared with the whole roster.
 */
export function assessSnapshot(
  figures: GuardFigures,
  settings: WrittenGuards,
  changes: readonly GuardVerdict[] = [],
): readonly (GuardVerdict & { isWarning: boolean })[] {
  const isCompared = !figures.isFirst && !figures.isDelta;
  const verdicts = [
    assessEmptiness(figures),
    ...assessQuality(figures, settings),
    figures.isFirst ? null : assessLeavers(figures, settings),
    assessEnd(figures),
    figures.isDelta ? null : assessControlTotal(figures),
    assessUnmapped(figures),
    ...(isCompared ? assessAgainstBefore(figures, settings) : []),
    ...changes,
  ];
  return verdicts
    .filter((verdict) => verdict !== null)
    .map((verdict) => ({ ...verdict, isWarning: isTolerated(verdict, figures) }));
}

/** A trial begins with the file as it is, unless most of it is unusable. */
function isTolerated({ guard }: GuardVerdict, { isFirst, isTrial, ...sums }: GuardFigures): boolean {
  if (!isFirst || !isTrial || !qualityGuards.includes(guard)) return false;
  return guard !== 'rejects' || (2 * sums.rejected <= sums.rows && 2 * sums.partyRejected <= sums.partyRows);
}

function assessEmptiness({ rows, customers, known, isFedBack }: GuardFigures): GuardVerdict | null {
  if (customers > 0 || isFedBack) return null;
  return {
    guard: 'empty',
    message: `none of its ${rows} rows is acceptable; the last snapshot showed ${known} customers`,
    look: 'check whether the export is complete, and whether the mapping of its columns still fits',
  };
}

function assessQuality(figures: GuardFigures, settings: WrittenGuards): readonly (GuardVerdict | null)[] {
  const { accepted, rows, partyRows } = figures;
  const toLimit = (key: 'maxRejectShare' | 'maxDoubtShare' | 'maxDuplicateShare', of: number, passed = 0): Limit =>
    of < sharesFromRows && settings[key] < most
      ? { share: most, words: `in less than ${sharesFromRows} rows`, accepted: passed }
      : { share: settings[key], words: `${settings.path}.${key}`, accepted: passed };
  // A few rejected rows pass, but not a source with a majority of them.
  const toRejectLimit = (of: number, passed?: number) => ({
    ...toLimit('maxRejectShare', of, passed),
    majorityFrom: 1,
  });
  return [
    // Re-imported rejects that are rejected again prove no fault of the roster.
    assessShare(figures.isFedBack ? 0 : figures.rejected, rows, toRejectLimit(rows, accepted?.rejected), {
      guard: 'rejects',
      what: 'rows were rejected',
      look: 'check the rejected rows and their reasons: does a column have another form, or the file another encoding?',
    }),
    assessShare(figures.partyRejected, partyRows, toRejectLimit(partyRows, accepted?.partyRejected), {
      guard: 'rejects',
      what: 'rows of related parties were rejected',
      look: 'check the rejected rows of related parties and their reasons',
    }),
    ...(figures.isDelta ? [] : figures.doubts).map((column) => {
      // A value that states that it is unknown is no sign of a wrongly read column.
      const inDoubt = column.doubts - column.unknown;
      const same = countSameDoubts(column, accepted?.doubts ?? []);
      const formats = describeFormats(column.values);
      return assessShare(inDoubt, column.read + inDoubt, toLimit('maxDoubtShare', rows, same), {
        guard: 'doubts',
        what: `values of column ${JSON.stringify(column.column.slice(0, 60))} are in doubt`,
        look:
          formats === null
            ? 'check the values in doubt: does the column have another form? A format, a language, own words or `realDates` in the mapping may make them readable'
            : `check the values in doubt, and write the format of the column in the mapping: ${formats}`,
      });
    }),
    assessShare(figures.duplicates, rows, toLimit('maxDuplicateShare', rows, accepted?.duplicates), {
      guard: 'duplicates',
      what: 'rows repeat another one',
      look: 'check whether a file was written or given twice',
    }),
  ];
}

/** Rows whose value is in doubt as it was in as many rows of the accepted import. */
function countSameDoubts({ column, values }: ColumnDoubts, accepted: readonly ColumnDoubts[]): number {
  const before = accepted.find((each) => each.column === column)?.values ?? [];
  return values.reduce((sum, { value, why, rows }) => {
    if (why === 'says_unknown') return sum;
    const same = before.find((each) => each.value === value && each.why === why);
    return sum + Math.min(rows, same?.rows ?? 0);
  }, 0);
}

/** A small roster may lose a few customers, but not most of them in one night. */
const toNightLimit = ({ path, maxShrinkNight }: WrittenGuards): Limit => ({
  share: maxShrinkNight,
  words: `${path}.maxShrinkNight`,
  majorityFrom: 2,
});

const assessLeavers = ({ leaversByRow, known }: GuardFigures, settings: WrittenGuards): GuardVerdict | null =>
  assessShare(leaversByRow, known, toNightLimit(settings), {
    guard: 'shrink_night',
    what: 'customers are offboarded by their own rows',
    look: 'check whether the column of active customers and its mapped words still mean the same',
  });

function assessEnd({ cutOff }: GuardFigures): GuardVerdict | null {
  if (cutOff.length === 0) return null;
  const look = 'check whether the export is complete, and the whole file was copied';
  return { guard: 'cut_off', message: cutOff.join('; '), look };
}

function assessControlTotal({ controlTotal, rows }: GuardFigures): GuardVerdict | null {
  if (controlTotal === undefined || (controlTotal !== null && rows >= controlTotal)) return null;
  const message =
    controlTotal === null
      ? `no row states the number of rows (controlTotal)`
      : `its source states ${controlTotal} rows, but ${rows} were read: ${controlTotal - rows} are missing (controlTotal)`;
  const look = 'check whether the export is complete, and all of its files were copied';
  return { guard: 'control_total', message, look };
}

function assessUnmapped({ isLive, unmapped }: GuardFigures): GuardVerdict | null {
  if (!isLive || unmapped.length === 0) return null;
  const look = 'check what the column holds, and map or ignore it in the configuration';
  return { guard: 'unmapped_columns', message: unmapped.join('; '), look };
}

function assessAgainstBefore(figures: GuardFigures, settings: WrittenGuards): readonly (GuardVerdict | null)[] {
  const { path } = settings;
  const { known, newlyAbsent, mostIn30Days, customers, partyRowsBefore } = figures;
  const fewerParties = Math.max(0, partyRowsBefore - (figures.partyRows - figures.partyRejected));
  const largest = mostIn30Days ?? 0;
  const fewer = Math.max(0, largest - customers);
  const limitOf30Days = { share: settings.maxShrink30Days, words: `${path}.maxShrink30Days` };
  return [
    assessShare(newlyAbsent, known, toNightLimit(settings), {
      guard: 'shrink_night',
      what: 'customers of the last snapshot are missing',
      look: 'check whether the export is cut off or was filtered',
    }),
    assessShare(fewer, largest, limitOf30Days, {
      guard: 'shrink_30_days',
      what: 'customers of the largest snapshot in 30 days are fewer now',
      look: 'check whether exports have lost some customers each night',
    }),
    // Over weeks the parties of one customer may go, however few there are.
    assessShare(
      fewerParties,
      partyRowsBefore,
      { share: settings.maxShrinkNight, words: `${path}.maxShrinkNight` },
      {
        guard: 'party_shrink',
        what: 'rows of related parties are fewer than in the last snapshot',
        look: 'check whether the source of related parties is cut off, or is no longer configured',
      },
    ),
    assessGrowth(figures, settings),
    ...(settings.columns ? assessColumns(figures) : []),
  ];
}

function assessGrowth({ known, joined }: GuardFigures, { maxGrowth, path }: WrittenGuards): GuardVerdict | null {
  if (known < growthFromCustomers || joined <= maxGrowth * known) return null;
  const share = toPercent(joined / known, maxGrowth);
  const limit = `at most ${toPercent(maxGrowth)}, ${path}.maxGrowth`;
  return {
    guard: 'growth',
    message: `${joined} customers are new beside the ${known} of the last snapshot: ${share} (${limit})`,
    look: 'check whether the customers are new, or only their ids have another form',
  };
}

function assessColumns(figures: GuardFigures): readonly (GuardVerdict | null)[] {
  const of = compareColumns(figures.headers, figures.headersBefore, figures.isRead);
  const ofParties = compareColumns(figures.partyHeaders, figures.partyHeadersBefore, figures.isPartyRead);
  const look = 'check whether the mapping has to follow the new headers';
  return [
    of === null ? null : { guard: 'columns', message: `it had ${of}`, look },
    ofParties === null ? null : { guard: 'columns', message: `its related parties had ${ofParties}`, look },
  ];
}

function compareColumns(
  headers: readonly string[],
  headersBefore: readonly string[] | null,
  isRead: (header: string) => boolean,
): string | null {
  if (headersBefore === null) return null;
  const missing = headersBefore.filter((header) => !headers.includes(header));
  const added = headers.filter((header) => !headersBefore.includes(header));
  if (![...missing, ...added].some(isRead)) return null;
  const parts = [`${headersBefore.length} columns, now ${headers.length}`];
  if (missing.length > 0) parts.push(`missing: ${quoteAll(missing)}`);
  if (added.length > 0) parts.push(`new: ${quoteAll(added)}`);
  return parts.join('; ');
}

/** How many of a whole may be affected. */
export interface Limit {
  share: number;
  /** What sets the share. */
  words: string;
  /** So many pass whatever their share is. */
  count?: number;
  /** Within `count`, more than half is still too many from this number on. */
  majorityFrom?: number;
  /** Share and count are multiplied by this. */
  times?: number;
  /** So many of the part were accepted with an earlier import; they count only as part of a majority. */
  accepted?: number;
}

/** The verdict when `part` of `whole` exceeds both the share and the count. */
export function assessShare(
  part: number,
  whole: number,
  { times = 1, words, majorityFrom, accepted = 0, ...of }: Limit,
  { what, ...verdict }: { guard: GuardName; what: string; look: string },
): GuardVerdict | null {
  const limit = { share: times * of.share, count: times * (of.count ?? few) };
  if (part <= limit.share * whole) return null;
  const open = part - accepted;
  const isFew = open <= limit.count || (accepted > 0 && open <= limit.share * whole);
  if (isFew && (majorityFrom === undefined || part < majorityFrom || 2 * part <= whole)) return null;
  const share = toPercent(part / whole, limit.share);
  const although = isFew ? '; more than half is too many, however few they are' : '';
  return {
    ...verdict,
    message: `${part} of ${whole} ${what}: ${share} (at most ${toPercent(limit.share)}, ${words}${although})`,
  };
}

/** Adds digits until a share above its limit differs from the limit. */
function toPercent(share: number, limit?: number): string {
  const percent = share * 100;
  const round = (digits: number): number => Number(percent.toPrecision(digits));
  let digits = percent >= 10 ? 4 : 3;
  while (limit !== undefined && digits < 15 && round(digits) === Number((limit * 100).toPrecision(digits))) digits += 1;
  return `${round(digits)} %`;
}

const share = z.number().min(0).max(1);

/** The limits at which a snapshot is held before it takes effect; shares are fractions of 1. */
export const guardsSchema = z.strictObject({
  maxRejectShare: share.default(0.005).describe(`rejected rows of all rows; ${few} pass, unless they are over half`),
  maxDoubtShare: share
    .default(0.2)
    .describe('values of a column that are in doubt, of all that it has; those that say that they are unknown aside'),
  maxDuplicateShare: share.default(0.05).describe('rows that repeat another one, of all rows'),
  maxShrinkNight: share
    .default(0.01)
    .describe(`customers of the last snapshot that are missing or leave; ${few} pass, unless they are over half`),
  maxShrink30Days: share.default(0.03).describe('customers fewer than in the largest snapshot of the last 30 days'),
  maxGrowth: z
    .number()
    .min(0)
    .default(0.5)
    .describe(`new customers beside those of the last snapshot, if these are ${growthFromCustomers} or more`),
  maxChangedShare: share
    .default(0.01)
    .describe(
      'known customers with another name, type, birth date or party, or with a value less; three times as many within seven days. 1 lets any change pass',
    ),
  columns: z
    .boolean()
    .default(true)
    .describe('whether a column that the mapping reads, or that reads like a fact, holds when it is missing or new'),
});
/** The `guards` of a roster with defaults. */
export type GuardSettings = z.output<typeof guardsSchema>;

/** Guards and the path at which they are written, such as `rosters[0].guards`. */
export type WrittenGuards = GuardSettings & { path: string };

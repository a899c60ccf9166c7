import { z } from 'zod';
import type { ColumnDoubts } from './doubts.js';

/** The guards that may hold a roster; the codes are stable and stored with an import that overrode them. */
const guardNames = [
  'empty',
  'rejects',
  'party_rejects',
  'doubts',
  'duplicates',
  'shrink_night',
  'shrink_30_days',
  'leavers',
  'party_shrink',
  'growth',
  'columns',
  'party_columns',
  'unmapped_columns',
  'cut_off',
  'control_total',
  'changed',
  'changed_countries',
  'changed_7_days',
  'changed_alerts',
  'columns_swapped',
  'names_rotated',
  'names_cut',
  'names_replaced',
  'names_exchanged',
  'dates_exchanged',
  'types_turned',
  'birth_dates_blank',
  'birth_dates_same',
  'fill_rate',
] as const;
type GuardName = (typeof guardNames)[number];

/** Guards that compare known customers with their last accepted records. */
export const changeGuards: readonly GuardName[] = guardNames.slice(guardNames.indexOf('changed'));

/** A guard that a snapshot violates; the message has both figures and the limit. */
export interface GuardVerdict {
  guard: GuardName;
  message: string;
  /** What to check. */
  look: string;
}

/** What to check when a guard holds a roster. */
const guardAdvice: Readonly<Record<GuardName, string>> = {
  empty: 'check whether the export is complete, and whether the mapping of its columns still fits',
  rejects: 'check the rejected rows and their reasons: does a column have another form, or the file another encoding?',
  party_rejects: 'check the rejected rows of related parties and their reasons',
  doubts:
    'check the values in doubt: does the column have another form? A format, a language, own words or `realDates` in the mapping may make them readable',
  duplicates: 'check whether a file was written or given twice',
  shrink_night: 'check whether the export is cut off or was filtered',
  shrink_30_days: 'check whether exports have lost some customers each night',
  leavers: 'check whether the column of active customers and its mapped words still mean the same',
  party_shrink: 'check whether the source of related parties is cut off, or is no longer configured',
  growth: 'check whether the customers are new, or only their ids have another form',
  columns: 'check whether the mapping has to follow the new headers',
  party_columns: 'check whether the mapping of the related parties has to follow the new headers',
  cut_off: 'check whether the export is complete, and the whole file was copied',
  unmapped_columns: 'check what the column holds, and map or ignore it in the configuration',
  control_total: 'check whether the export is complete, and all of its files were copied',
  changed: 'check the changes: was a column mapped, truncated, filled or sorted differently?',
  changed_countries: 'check whether the column of countries still has the same meaning',
  changed_7_days: 'check whether exports have changed some customers each night',
  changed_alerts: 'check the changes: a changed record must not remove an alert of a customer',
  columns_swapped: "check whether the columns of the file are in another order, or have each other's headers",
  names_rotated: 'check whether one column was sorted without the others, as in a spreadsheet',
  names_cut: 'check whether the export truncates names at a fixed length',
  names_replaced: 'check whether the name comes from another column, or names were made anonymous',
  names_exchanged: 'check whether the mapping of first and last name still fits',
  dates_exchanged: 'check whether the format of birth dates still fits',
  types_turned: 'check whether the column of the type and its mapped words still mean the same',
  birth_dates_blank: 'check whether the export still fills the column of birth dates',
  birth_dates_same: 'check whether the date is only a default for unknown ones',
  fill_rate: 'check whether the export still fills this column',
};

/** What to check when a guard, also one of an earlier version, held a roster. */
export const describeAdvice = (guard: string): string =>
  new Map<string, string>(Object.entries(guardAdvice)).get(guard) ?? 'check whether the source is complete';

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

/** A verdict without its advice. */
export type Verdict = Omit<GuardVerdict, 'look'>;

/** Rows of a snapshot that an earlier import had as well, and that were accepted with it. */
export interface AcceptedQuality {
  rejected: number;
  partyRejected: number;
  duplicates: number;
  doubts: readonly ColumnDoubts[];
}

/** Guards of the quality of rows; such rows are listed in each report. */
export const qualityGuards: readonly GuardName[] = ['rejects', 'party_rejects', 'doubts', 'duplicates'];

/** Re-imported rejects that are rejected again prove no fault of the roster. */
const aboutRejects: readonly GuardName[] = ['empty', 'rejects'];

/**
 * Gives every guard that a snapshot violates, those of its changes included; a verdict that does not hold is a warning. A delta is not compared
 * with the whole roster.
 */
export function assessSnapshot(
  figures: GuardFigures,
  settings: WrittenGuards,
  changes: readonly Verdict[] = [],
): readonly (GuardVerdict & { isWarning: boolean })[] {
  const { path } = settings;
  const verdicts = [
    assessEmptiness(figures),
    ...assessQuality(figures, settings),
    figures.isFirst
      ? null
      : assessShare('leavers', figures.leaversByRow, figures.known, 'customers are offboarded by their own rows', {
          share: settings.maxShrinkNight,
          key: 'maxShrinkNight',
          count: settings.maxMissingCustomers,
          half: halfMissing,
          path,
        }),
    figures.cutOff.length > 0 ? { guard: 'cut_off' as const, message: figures.cutOff.join('; ') } : null,
    figures.isDelta ? null : assessControlTotal(figures),
    figures.isLive && figures.unmapped.length > 0
      ? { guard: 'unmapped_columns' as const, message: figures.unmapped.join('; ') }
      : null,
    ...(figures.isFirst || figures.isDelta ? [] : assessAgainstBefore(figures, settings)),
    ...changes,
  ];
  return verdicts
    .filter((verdict) => verdict !== null)
    .filter(({ guard }) => !(figures.isFedBack && aboutRejects.includes(guard)))
    .map((verdict) => ({ ...verdict, isWarning: isTolerated(verdict, figures), look: guardAdvice[verdict.guard] }));
}

/** A trial begins with the file as it is, unless most of it is unusable. */
function isTolerated({ guard }: Verdict, { isFirst, isTrial, ...sums }: GuardFigures): boolean {
  if (!isFirst || !isTrial || !qualityGuards.includes(guard)) return false;
  if (guard === 'rejects') return 2 * sums.rejected <= sums.rows;
  return guard !== 'party_rejects' || 2 * sums.partyRejected <= sums.partyRows;
}

/** The share at which most rows are affected: the only one that is judged in a small roster. */
const most = 0.5;

function assessQuality(figures: GuardFigures, settings: WrittenGuards): readonly (Verdict | null)[] {
  const { accepted, rows, partyRows } = figures;
  const { path } = settings;
  const toLimit = <Key extends keyof GuardSettings>(share: number, key: Key, of: number) =>
    of < settings.sharesFromRows && share < most ? { share: most, key: 'sharesFromRows' as const } : { share, key };
  const toRejectLimit = (of: number, passed = 0) => ({
    ...toLimit(settings.maxRejectShare, 'maxRejectShare', of),
    count: settings.maxRejectedRows,
    // A few rejected rows pass, but not a source with a majority of them.
    half: { from: 1, key: 'maxRejectedRows' as const },
    accepted: passed,
    path,
  });
  return [
    assessShare('rejects', figures.rejected, rows, 'rows were rejected', toRejectLimit(rows, accepted?.rejected)),
    assessShare(
      'party_rejects',
      figures.partyRejected,
      partyRows,
      'rows of related parties were rejected',
      toRejectLimit(partyRows, accepted?.partyRejected),
    ),
    ...(figures.isDelta ? [] : figures.doubts).map((column) => {
      const inDoubt = column.doubts - column.unknown;
      // A value that states that it is unknown is no sign of a wrongly read column.
      const what = `values of column ${JSON.stringify(column.column.slice(0, 60))} are in doubt`;
      return assessShare('doubts', inDoubt, column.read + inDoubt, what, {
        ...toLimit(settings.maxDoubtShare, 'maxDoubtShare', rows),
        count: settings.maxDoubtRows,
        accepted: countSameDoubts(column, accepted?.doubts ?? []),
        path,
      });
    }),
    assessShare('duplicates', figures.duplicates, rows, 'rows repeat another one', {
      ...toLimit(settings.maxDuplicateShare, 'maxDuplicateShare', rows),
      count: settings.maxDuplicateRows,
      accepted: accepted?.duplicates ?? 0,
      path,
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

function assessControlTotal({ controlTotal, rows }: GuardFigures): Verdict | null {
  if (controlTotal === undefined || (controlTotal !== null && rows >= controlTotal)) return null;
  const message =
    controlTotal === null
      ? `no row states the number of rows (controlTotal)`
      : `its source states ${controlTotal} rows, but ${rows} were read: ${controlTotal - rows} are missing (controlTotal)`;
  return { guard: 'control_total', message };
}

/** A small roster may lose a few customers, but not most of them in one night. */
const halfMissing = { from: 2, key: 'maxMissingCustomers' } as const;

function assessAgainstBefore(figures: GuardFigures, settings: WrittenGuards): readonly (Verdict | null)[] {
  const { path } = settings;
  const { known, newlyAbsent, mostIn30Days, customers, joined, partyRowsBefore } = figures;
  const fewerParties = Math.max(0, partyRowsBefore - (figures.partyRows - figures.partyRejected));
  const missingLimit = { count: settings.maxMissingCustomers, path };
  const largest = mostIn30Days ?? 0;
  const fewer = Math.max(0, largest - customers);
  const mayGrow = known < settings.growthFromCustomers || joined <= settings.maxGrowth * known;
  return [
    assessShare('shrink_night', newlyAbsent, known, 'customers of the last snapshot are missing', {
      ...missingLimit,
      half: halfMissing,
      share: settings.maxShrinkNight,
      key: 'maxShrinkNight',
    }),
    assessShare('shrink_30_days', fewer, largest, 'customers of the largest snapshot in 30 days are fewer now', {
      ...missingLimit,
      share: settings.maxShrink30Days,
      key: 'maxShrink30Days',
    }),
    assessShare(
      'party_shrink',
      fewerParties,
      partyRowsBefore,
      'rows of related parties are fewer than in the last snapshot',
      {
        ...missingLimit,
        share: settings.maxShrinkNight,
        key: 'maxShrinkNight',
      },
    ),
    mayGrow
      ? null
      : {
          guard: 'growth',
          message: `${joined} customers are new beside the ${known} of the last snapshot: ${toPercent(joined / known, settings.maxGrowth)} (at most ${toPercent(settings.maxGrowth)}, ${path}.maxGrowth)`,
        },
    settings.columns ? assessColumns('columns', figures.headers, figures.headersBefore, figures.isRead) : null,
    settings.columns
      ? assessColumns('party_columns', figures.partyHeaders, figures.partyHeadersBefore, figures.isPartyRead)
      : null,
  ];
}

function assessEmptiness({ rows, customers, known }: GuardFigures): Verdict | null {
  if (customers > 0) return null;
  const message = `none of its ${rows} rows is acceptable; the last snapshot showed ${known} customers`;
  return { guard: 'empty', message };
}

/** The verdict when `part` of `whole` exceeds both the share and the count, each multiplied by `times`. */
export function assessShare(
  guard: GuardName,
  part: number,
  whole: number,
  what: string,
  {
    times = 1,
    half,
    key,
    path,
    accepted = 0,
    ...of
  }: {
    share: number;
    /** So many pass whatever their share is. */
    count: number;
    key: keyof GuardSettings;
    /** Within `count`, more than half is still too many from `from` on; `key` is the setting of the count. */
    half?: { from: number; key: keyof GuardSettings };
    times?: number;
    /** So many of the part were accepted with an earlier import; they count only as part of a majority. */
    accepted?: number;
    /** Where the settings are written. */
    path: string;
  },
): Verdict | null {
  const limit = { share: times * of.share, count: times * of.count };
  if (part <= limit.share * whole) return null;
  const open = part - accepted;
  const isFew = open <= limit.count || (accepted > 0 && open <= limit.share * whole);
  if (isFew && !(half !== undefined && part >= half.from && 2 * part > whole)) return null;
  const share = toPercent(part / whole, limit.share);
  const few = isFew && half ? `; more than half is too many even within ${path}.${half.key}` : '';
  return {
    guard,
    message: `${part} of ${whole} ${what}: ${share} (at most ${toPercent(limit.share)}, ${times === 1 ? '' : `${times} times `}${path}.${key}${few})`,
  };
}

function assessColumns(
  guard: GuardName,
  headers: readonly string[],
  headersBefore: readonly string[] | null,
  isRead: (header: string) => boolean,
): Verdict | null {
  if (headersBefore === null) return null;
  const missing = headersBefore.filter((header) => !headers.includes(header));
  const added = headers.filter((header) => !headersBefore.includes(header));
  if (![...missing, ...added].some(isRead)) return null;
  const parts = [
    ...(missing.length > 0 ? [`missing: ${quoteAll(missing)}`] : []),
    ...(added.length > 0 ? [`new: ${quoteAll(added)}`] : []),
  ];
  const message = `it had ${headersBefore.length} columns and has ${headers.length}; ${parts.join('; ')}`;
  return { guard, message };
}

const quoteAll = (headers: readonly string[]): string => {
  const shown = headers.slice(0, 20).map((header) => JSON.stringify(header.slice(0, 60)));
  return shown.join(', ') + (headers.length > shown.length ? ' ...' : '');
};

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
  maxRejectShare: share.default(0.005).describe('rejected rows of all rows'),
  maxRejectedRows: z
    .int()
    .min(0)
    .default(5)
    .describe(
      'so many rejected rows are let through whatever their share is, up to half of all rows. A tenth of a small roster may be one row',
    ),
  sharesFromRows: z
    .int()
    .min(0)
    .default(200)
    .describe(
      'the shares of rejected, doubtful and repeated rows are judged from so many rows on; in a smaller roster only more than half of them is too many',
    ),
  maxDoubtShare: share
    .default(0.2)
    .describe(
      'values of a column that are in doubt, of all that it has; those that say themselves that they are not known aside',
    ),
  maxDoubtRows: z.int().min(0).default(5).describe('so many values in doubt are let through whatever their share is'),
  maxShrinkNight: share.default(0.01).describe('customers of the last snapshot that this one does not show any more'),
  maxShrink30Days: share.default(0.03).describe('customers fewer than in the largest snapshot of the last 30 days'),
  maxMissingCustomers: z
    .int()
    .min(0)
    .default(5)
    .describe(
      'so many missing customers are let through whatever their share is, as long as they are not two or more and over half of all',
    ),
  maxGrowth: z
    .number()
    .min(0)
    .default(0.5)
    .describe('new customers beside those of the last snapshot; 0.5 is half as many again'),
  growthFromCustomers: z.int().min(0).default(1_000).describe('a roster of fewer customers may grow as it likes'),
  maxDuplicateShare: share.default(0.05).describe('rows that repeat another one, of all rows'),
  maxDuplicateRows: z.int().min(0).default(5).describe('so many repetitions are let through whatever their share is'),
  columns: z
    .boolean()
    .default(true)
    .describe(
      'whether a column that is missing or new since the last snapshot holds the roster, where the mapping reads it or it reads like a fact that is not mapped',
    ),
  maxChangedShare: share
    .default(0.01)
    .describe(
      'known customers with another name, type, birth date or party, or with a value less; three times as many within seven days. Case, accents and the order of words do not count, nor do columns that are not screened',
    ),
  maxChangedCustomers: z
    .int()
    .min(0)
    .default(20)
    .describe(
      'so many changed customers are let through whatever their share is; three times as many within seven days',
    ),
  maxChangedCountriesShare: share
    .default(0.05)
    .describe('known customers with other countries; three times as many within seven days'),
  maxChangedAlertsShare: share.default(0.05).describe('changed customers of those with an alert or a disposition'),
  maxChangedAlertsCustomers: z
    .int()
    .min(0)
    .default(4)
    .describe('so many changed customers with an alert or a disposition are let through whatever their share is'),
  shapes: z
    .boolean()
    .default(true)
    .describe(
      'whether changes that look like a mistake hold the roster, such as names that are moved against the ids or cut at a fixed length',
    ),
});
/** The `guards` of a roster with defaults. */
export type GuardSettings = z.output<typeof guardsSchema>;

/** Guards and the path at which they are written, such as `rosters[0].guards`. */
export type WrittenGuards = GuardSettings & { path: string };

import type { GuardSettings } from './settings.js';

/** What holds a roster; stable codes, also stored with an import that overrode them. */
export const guardNames = [
  'empty',
  'rejects',
  'party_rejects',
  'duplicates',
  'shrink_night',
  'shrink_30_days',
  'leavers',
  'party_shrink',
  'growth',
  'columns',
  'party_columns',
  'edited',
] as const;
/** What holds a roster. */
export type GuardName = (typeof guardNames)[number];

/** A guard that a snapshot does not pass, in words that give both figures. */
export interface GuardVerdict {
  guard: GuardName;
  message: string;
}

/** What guards look at. */
export interface GuardFigures {
  rows: number;
  customers: number;
  rejected: number;
  duplicates: number;
  partyRows: number;
  partyRejected: number;
  joined: number;
  /** Customers of the last snapshot that this one does not show. */
  newlyAbsent: number;
  /** Customers whose own row says that they have left. */
  leaversByRow: number;
  isFirst: boolean;
  isDelta: boolean;
  /** Customers of the last snapshot, those who have left aside. */
  known: number;
  mostIn30Days: number | null;
  headers: readonly string[];
  headersBefore: readonly string[] | null;
  /** Accepted rows of related parties of the last snapshot, and the columns of their sources then and now. */
  partyRowsBefore: number;
  partyHeaders: readonly string[];
  partyHeadersBefore: readonly string[] | null;
}

/** Gives every guard that a snapshot does not pass; a part of a roster is not measured by the whole. */
export function judgeSnapshot(figures: GuardFigures, settings: GuardSettings): readonly GuardVerdict[] {
  const verdicts = [
    judgeEmptiness(figures),
    judgeShare('rejects', figures.rejected, figures.rows, 'rows were rejected', {
      share: settings.maxRejectShare,
      count: settings.maxRejectedRows,
    }),
    judgeShare('party_rejects', figures.partyRejected, figures.partyRows, 'rows of related parties were rejected', {
      share: settings.maxRejectShare,
      count: settings.maxRejectedRows,
    }),
    judgeShare('duplicates', figures.duplicates, figures.rows, 'rows repeat another one', {
      share: settings.maxDuplicateShare,
      count: settings.maxDuplicateRows,
    }),
    figures.isFirst
      ? null
      : judgeShare('leavers', figures.leaversByRow, figures.known, 'customers leave by what their own rows say', {
          share: settings.maxShrinkNight,
          count: settings.maxMissingCustomers,
        }),
    ...(figures.isFirst || figures.isDelta ? [] : judgeAgainstBefore(figures, settings)),
  ];
  return verdicts.filter((verdict) => verdict !== null);
}

function judgeAgainstBefore(figures: GuardFigures, settings: GuardSettings): readonly (GuardVerdict | null)[] {
  const { known, newlyAbsent, mostIn30Days, customers, joined, partyRowsBefore } = figures;
  const fewerParties = Math.max(0, partyRowsBefore - (figures.partyRows - figures.partyRejected));
  const missingLimit = { count: settings.maxMissingCustomers };
  const most = mostIn30Days ?? 0;
  const fewer = Math.max(0, most - customers);
  const mayGrow = known < settings.growthFromCustomers || joined <= settings.maxGrowth * known;
  return [
    judgeShare('shrink_night', newlyAbsent, known, 'customers of the last snapshot are missing', {
      ...missingLimit,
      share: settings.maxShrinkNight,
    }),
    judgeShare('shrink_30_days', fewer, most, 'customers of the largest snapshot in 30 days are fewer now', {
      ...missingLimit,
      share: settings.maxShrink30Days,
    }),
    judgeShare(
      'party_shrink',
      fewerParties,
      partyRowsBefore,
      'rows of related parties are fewer than in the last snapshot',
      {
        ...missingLimit,
        share: settings.maxShrinkNight,
      },
    ),
    mayGrow
      ? null
      : {
          guard: 'growth',
          message: `${joined} customers are new beside the ${known} of the last snapshot (at most ${toPercent(settings.maxGrowth)})`,
        },
    settings.columns ? judgeColumns('columns', figures.headers, figures.headersBefore) : null,
    settings.columns ? judgeColumns('party_columns', figures.partyHeaders, figures.partyHeadersBefore) : null,
  ];
}

function judgeEmptiness({ rows, customers, known }: GuardFigures): GuardVerdict | null {
  if (customers > 0) return null;
  const message = `none of its ${rows} rows is acceptable; the last snapshot showed ${known} customers`;
  return { guard: 'empty', message };
}

function judgeShare(
  guard: GuardName,
  part: number,
  whole: number,
  what: string,
  limit: { share: number; count: number },
): GuardVerdict | null {
  if (part <= limit.count || part <= limit.share * whole) return null;
  const share = toPercent(part / whole);
  return { guard, message: `${part} of ${whole} ${what}: ${share} (at most ${toPercent(limit.share)})` };
}

function judgeColumns(
  guard: GuardName,
  headers: readonly string[],
  headersBefore: readonly string[] | null,
): GuardVerdict | null {
  if (headersBefore === null) return null;
  const missing = headersBefore.filter((header) => !headers.includes(header));
  const added = headers.filter((header) => !headersBefore.includes(header));
  if (missing.length + added.length === 0) return null;
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

/** Two digits that count: a tenth of a percent over the limit must show. */
const toPercent = (share: number): string => {
  const percent = share * 100;
  return `${Number(percent.toPrecision(percent >= 10 ? 4 : 3))} %`;
};

import { describe, expect, it } from 'vitest';
import { assessSnapshot, type GuardFigures, guardsSchema } from '../../../../src/roster/guards.js';

const quiet: GuardFigures = {
  rows: 100_000,
  customers: 100_000,
  rejected: 0,
  duplicates: 0,
  partyRows: 0,
  partyRejected: 0,
  joined: 0,
  newlyAbsent: 0,
  leaversByRow: 0,
  isFirst: false,
  isDelta: false,
  isFedBack: false,
  known: 100_000,
  mostIn30Days: 100_000,
  headers: ['id', 'name'],
  headersBefore: ['name', 'id'],
  partyRowsBefore: 0,
  partyHeaders: [],
  partyHeadersBefore: null,
  isRead: (header) => header !== 'note',
  isPartyRead: () => true,
  unmapped: [],
  cutOff: [],
  isLive: true,
  isTrial: false,
  doubts: [],
};
const assess = (figures: Partial<GuardFigures>, settings: object = {}): readonly string[] =>
  assessSnapshot({ ...quiet, ...figures }, { ...guardsSchema.parse(settings), path: 'rosters[2].guards' }).map(
    ({ guard, message }) => `${guard}: ${message}`,
  );

describe('guards', () => {
  it('pass a quiet night, whatever the order of the columns', () => {
    expect(assess({})).toEqual([]);
  });

  it('hold what is above a share, and pass what reaches it', () => {
    expect(assess({ rejected: 500 })).toEqual([]);
    expect(assess({ rejected: 501 })).toEqual([
      'rejects: 501 of 100000 rows were rejected: 0.501 % (at most 0.5 %, rosters[2].guards.maxRejectShare)',
    ]);
    expect(assess({ newlyAbsent: 1_000 })).toEqual([]);
    expect(assess({ newlyAbsent: 1_001 })).toHaveLength(1);
    expect(assess({ customers: 97_000 })).toEqual([]);
    expect(assess({ customers: 96_999 })).toEqual([
      'shrink_30_days: 3001 of 100000 customers of the largest snapshot in 30 days are fewer now: 3.001 % (at most 3 %, rosters[2].guards.maxShrink30Days)',
    ]);
    expect(assess({ joined: 50_001 })).toEqual([
      'growth: 50001 customers are new beside the 100000 of the last snapshot: 50.001 % (at most 50 %, rosters[2].guards.maxGrowth)',
    ]);
    expect(assess({ duplicates: 5_001 })).toHaveLength(1);
    expect(assess({ partyRows: 1_000, partyRejected: 6 })).toHaveLength(1);
  });

  it('let a few rows of a small roster through, of which each is a large share', () => {
    const small = { rows: 20, customers: 15, known: 20, mostIn30Days: 20, newlyAbsent: 5, rejected: 5, joined: 900 };
    expect(assess(small)).toEqual([]);
    expect(assess({ ...small, rejected: 6 })).toEqual([]);
    expect(assess({ ...small, newlyAbsent: 6 })).toHaveLength(1);
  });

  it('name the formats to choose from where dates are in doubt', () => {
    const values = [{ value: '3/4/65', why: 'ambiguous_date' as const, rows: 90 }];
    const doubts = [{ column: 'born', field: 'birthDate' as const, read: 60, doubts: 90, unknown: 0, values }];
    const settings = { ...guardsSchema.parse({}), path: 'guards' };
    expect(assessSnapshot({ ...quiet, rows: 150, doubts }, settings).map(({ look }) => look)).toEqual([
      'check the values in doubt, and write the format of the column in the mapping: d/M/yy or M/d/yy',
    ]);
  });

  it('judge shares of bad rows from 200 rows on, and below only a majority of them', () => {
    const doubts = [{ column: 'born', field: 'birthDate' as const, read: 60, doubts: 90, unknown: 0, values: [] }];
    const bad = { customers: 100, known: 100, mostIn30Days: 100, rejected: 60, duplicates: 80 };
    expect(assess({ ...bad, rows: 199 })).toEqual([]);
    expect(assess({ ...bad, rows: 199, rejected: 100 })).toHaveLength(1);
    expect(assess({ ...bad, rows: 199, doubts })).toEqual([
      'doubts: 90 of 150 values of column "born" are in doubt: 60 % (at most 50 %, in less than 200 rows)',
    ]);
    // Values that say themselves that they are unknown are no sign of a column that is read wrongly.
    const saidUnknown = doubts.map((column) => ({ ...column, unknown: 90 }));
    expect(assess({ ...bad, rows: 199, doubts: saidUnknown })).toEqual([]);
    expect(assess({ ...bad, rows: 200 }).map((verdict) => verdict.split(':')[0])).toEqual(['rejects', 'duplicates']);
    // What compares nights is judged at any size.
    expect(assess({ ...bad, rows: 199, newlyAbsent: 6 })).toHaveLength(1);
  });

  it('let rows pass that were accepted before, up to half of all rows', () => {
    const value = { value: 'x', why: 'unknown_risk_tier' as const, rows: 30_000 };
    const doubts = [
      { column: 'tier', field: 'riskTier' as const, read: 70_000, doubts: 30_000, unknown: 0, values: [value] },
    ];
    const accepted = { rejected: 40_000, partyRejected: 0, duplicates: 9_000, doubts };
    const same = { rejected: 40_000, duplicates: 9_000, doubts };
    expect(assess(same)).toHaveLength(3);
    expect(assess({ ...same, accepted })).toEqual([]);
    expect(assess({ ...same, accepted, rejected: 40_501 })).toHaveLength(1);
    expect(assess({ ...same, accepted, rejected: 60_000 })).toHaveLength(1);
    expect(assess({ accepted: { ...accepted, rejected: 60_000 }, rejected: 60_000 })).toHaveLength(1);
    const others = doubts.map((column) => ({ ...column, values: [{ ...value, value: 'y' }] }));
    expect(assess({ ...same, accepted, doubts: others })).toHaveLength(1);
  });

  it('hold a roster of any size that loses two customers or more in a night and over half of them', () => {
    const five = { rows: 5, customers: 5, known: 5, mostIn30Days: 5 };
    expect(assess({ ...five, newlyAbsent: 2 })).toEqual([]);
    expect(assess({ ...five, newlyAbsent: 3 })).toEqual([
      'shrink_night: 3 of 5 customers of the last snapshot are missing: 60 % (at most 1 %, rosters[2].guards.maxShrinkNight; more than half is too many, however few they are)',
    ]);
    expect(assess({ ...five, leaversByRow: 5 })).toHaveLength(1);
    // Over weeks one by one may go, and so may the parties of one customer.
    expect(assess({ ...five, partyRowsBefore: 3, partyRows: 1 })).toEqual([]);
    expect(assess({ ...five, customers: 2, known: 3 })).toEqual([]);
    // One of one or two may go, and whoever allows everything is not held.
    expect(assess({ ...five, known: 1, newlyAbsent: 1 })).toEqual([]);
    expect(assess({ ...five, newlyAbsent: 5 }, { maxShrinkNight: 1 })).toEqual([]);
    expect(assess({ ...five, newlyAbsent: 5, isDelta: true })).toEqual([]);
  });

  it('hold a source of any size of which over half of the customer or party rows are rejected', () => {
    const five = { rows: 5, customers: 0, known: 5, mostIn30Days: 5 };
    expect(assess({ ...five, customers: 2, rejected: 3 })).toEqual([
      'rejects: 3 of 5 rows were rejected: 60 % (at most 50 %, in less than 200 rows; more than half is too many, however few they are)',
    ]);
    expect(assess({ ...five, rejected: 5 }).map((verdict) => verdict.split(':')[0])).toEqual(['empty', 'rejects']);
    expect(assess({ partyRows: 5, partyRejected: 5 })).toEqual([
      'rejects: 5 of 5 rows of related parties were rejected: 100 % (at most 50 %, in less than 200 rows; more than half is too many, however few they are)',
    ]);
    expect(assess({ partyRows: 1, partyRejected: 1, isFirst: true })).toHaveLength(1);
    expect(assess({ partyRows: 4, partyRejected: 2 })).toEqual([]);
    expect(assess({ partyRows: 5, partyRejected: 5 }, { maxRejectShare: 1 })).toEqual([]);
  });

  it('name every column that is missing or new', () => {
    expect(assess({ headers: ['id', 'full name'] })).toEqual([
      'columns: it had 2 columns, now 2; missing: "name"; new: "full name"',
    ]);
    expect(assess({ headers: ['id', 'full name'] }, { columns: false })).toEqual([]);
    expect(assess({ headersBefore: null })).toEqual([]);
  });

  it('let columns come and go that nobody reads, and name them beside others', () => {
    expect(assess({ headers: ['id', 'name', 'note'] })).toEqual([]);
    expect(assess({ headersBefore: ['id', 'name', 'note'] })).toEqual([]);
    expect(assess({ headers: ['id', 'name', 'note', 'born'] })).toEqual([
      'columns: it had 2 columns, now 4; new: "note", "born"',
    ]);
  });

  it('hold a roster without customers with both figures, and measure neither a first snapshot nor a part by the one before', () => {
    expect(assess({ rows: 0, customers: 0, isFirst: true, known: 0 })).toEqual([
      'empty: none of its 0 rows is acceptable; the last snapshot showed 0 customers',
    ]);
    const strange = { newlyAbsent: 90_000, joined: 90_000, customers: 1_000, headers: ['x'] };
    expect(assess({ ...strange, isFirst: true })).toEqual([]);
    expect(assess({ ...strange, isDelta: true })).toEqual([]);
    expect(assess(strange)).toHaveLength(4);
  });

  it('say what to look at, each its own', () => {
    const verdicts = assessSnapshot(
      { ...quiet, newlyAbsent: 5_000, joined: 90_000 },
      { ...guardsSchema.parse({}), path: 'rosters[0].guards' },
    );
    expect(verdicts.map(({ look }) => look)).toEqual([
      'check whether the export is cut off or was filtered',
      'check whether the customers are new, or only their ids have another form',
    ]);
  });
});

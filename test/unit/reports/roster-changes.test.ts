import { describe, expect, it } from 'vitest';
import { buildReportMessage } from '../../../src/mail/report-message.js';
import { renderHtml } from '../../../src/reports/html-page.js';
import { toReport } from '../../../src/reports/report.js';
import { describeRosterChanges } from '../../../src/reports/roster-changes.js';
import type { ComparedParty, ComparedRecord } from '../../../src/roster/compare-records.js';
import { FieldTally, type RosterChanges } from '../../../src/roster/field-changes.js';
import { joinChunks } from '../../helpers/report-files.js';
import { buildRunFacts } from '../../helpers/run-facts.js';

type Facts = Partial<ComparedParty> & { riskTier?: string | null; others?: readonly ComparedParty[] };

const toRecord = ({ riskTier = null, others = [], ...facts }: Facts): ComparedRecord => ({
  riskTier,
  parties: [
    { role: 'customer', type: 'person', name: 'Ada Ek', birthDate: null, countries: ['dk'], ...facts },
    ...others,
  ],
});

const ofRoster = (facts: Partial<RosterChanges>): RosterChanges => ({
  known: 30_000,
  joined: 0,
  missing: 0,
  offboarded: 0,
  returned: 0,
  reread: [],
  fields: [],
  ...facts,
});

/** What an import says in which each of these customers becomes the other one. */
function play(pairs: readonly (readonly [Facts, Facts])[]): RosterChanges {
  const tally = new FieldTally();
  for (const [before, after] of pairs) tally.add(toRecord(before), toRecord(after));
  return ofRoster({ fields: tally.list() });
}

const times = <Pair>(count: number, make: (at: number) => Pair): Pair[] =>
  Array.from({ length: count }, (_, at) => make(at));
const born = (before: string | null, after: string | null) => [{ birthDate: before }, { birthDate: after }] as const;
const sum = (...rosterChanges: readonly RosterChanges[]) => toReport(buildRunFacts({ rosterChanges })).rosterChanges;
const say = (pairs: Parameters<typeof play>[0]) => sum(play(pairs))?.inBulk;

const dayMs = 86_400_000;
/** Days about the ends of months and years, some of them leap years. */
const ends = ['1960-02-29', '1960-12-31', '1971-01-01', '1980-03-01', '1999-12-31', '2000-02-28', '1975-07-15'];
const shift = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
const shifted = (count: number, days: number) =>
  times(count, (at) => born(ends[at % ends.length] ?? '', shift(ends[at % ends.length] ?? '', days)));

describe('changes of a roster', () => {
  it('name birth dates that a time zone has shifted, over ends of months too, also among ordinary corrections', () => {
    expect(say(shifted(15, -1))).toEqual(['All 15 changed birth dates are one day earlier.']);
    expect(say(shifted(15, 1))).toEqual(['All 15 changed birth dates are one day later.']);
    const corrected = times(20, (at) => born('1950', `19${50 + at}-05-17`));
    expect(say([...corrected, ...shifted(15, 1)])).toEqual(['15 of 35 changed birth dates are one day later.']);
    const director = { role: 'director', type: 'person', name: 'Bo Ek', countries: [] };
    const ofDirectors = shifted(12, 1).map(([before, after]) => {
      return [{ others: [{ ...director, ...before }] }, { others: [{ ...director, ...after }] }] as const;
    });
    expect(say(ofDirectors)).toEqual(['All 12 changed birth dates are one day later.']);
  });

  it('name exchanged days and months, another century, one value for all, and emptied values', () => {
    expect(say(times(12, (at) => born(`1970-03-1${at % 3}`, `1970-1${at % 3}-03`)))).toEqual([
      'All 12 changed birth dates have day and month exchanged.',
    ]);
    expect(say(times(12, () => born('2055-03-20', '1955-03-20')))).toEqual([
      'All 12 changed birth dates are of another century.',
      'All 12 changed birth dates are 1955-03-20 now.',
    ]);
    expect(say(times(15, (at) => born(`19${50 + at}-05-20`, '1900-01-01?')))).toEqual([
      'All 15 changed birth dates are 1900-01-01 (uncertain) now.',
    ]);
    expect(say(times(15, () => born('1970-05-20', null)))).toEqual(['All 15 changed birth dates are empty now.']);
    expect(say(times(15, () => [{ riskTier: 'high' }, { riskTier: 'low' }]))).toEqual([
      'All 15 changed risk tiers are low now.',
    ]);
    expect(say(times(15, (at) => [{ name: `Ada ${at}` }, { name: 'Test' }]))).toEqual([
      'All 15 changed names are the same now.',
    ]);
  });

  it('name names in capitals, and those that have lost accents', () => {
    expect(say(times(15, (at) => [{ name: `Ada ${at}` }, { name: `ADA ${at}` }]))).toEqual([
      'All 15 changed names differ only in upper and lower case.',
    ]);
    expect(say(times(15, (at) => [{ name: `Søren ${at}` }, { name: `Soren ${at}` }]))).toEqual([
      'All 15 changed names differ only in accents or the order of words.',
    ]);
  });

  it('are only counted where they are everyday', () => {
    const everyday = [
      ...shifted(3, 1),
      ...times(4, (at): [Facts, Facts] => [{ name: `Ada ${at}` }, { name: `Ada Ek-${at}` }]),
      ...times(2, (at): [Facts, Facts] => [{ countries: ['dk'] }, { countries: at === 0 ? ['se'] : ['no'] }]),
    ];
    const night = { ...play(everyday), joined: 40, missing: 9 };
    expect(sum(night)?.inBulk).toEqual([]);
    expect(describeRosterChanges(night)).toBe(
      '40 customers joined, 9 missing in the source; changed: 4 names, 3 birth dates, 2 lists of countries',
    );
    expect(describeRosterChanges(ofRoster({}))).toBe('none');
    // Of 300 customers, 19 are few.
    expect(sum(ofRoster({ known: 300, joined: 19 }))?.inBulk).toEqual([]);
  });

  it('name who joins, is missing or left in bulk with the share of the roster', () => {
    expect(sum(ofRoster({ joined: 900 }))?.inBulk).toEqual(['900 customers joined, 3 % of the roster.']);
    expect(sum(ofRoster({ known: 100_000, missing: 900, offboarded: 600 }))?.inBulk).toEqual([
      '900 customers are missing in the source, 0.9 % of the roster.',
      '600 customers are offboarded, 0.6 % of the roster.',
    ]);
    const renamed = times(200, (at): [Facts, Facts] => [{ name: `Ada ${at}` }, { name: `Bo ${at}` }]);
    expect(say(renamed)).toEqual(['200 names changed, 0.67 % of the roster.']);
  });

  it('of several imports add up, so that a mass in small parts is named too', () => {
    expect(sum()).toBeNull();
    const first = { ...play(shifted(6, 1)), joined: 100 };
    const second = { ...play([...shifted(6, 1), [{ name: 'Ada' }, { name: 'Bo' }]]), joined: 60, known: 30_100 };
    const night = sum(first, second);
    expect(night?.inBulk).toEqual([
      '160 customers joined, 0.53 % of the roster.',
      'All 12 changed birth dates are one day later.',
    ]);
    expect(night && describeRosterChanges(night)).toBe('160 customers joined; changed: 1 name, 12 birth dates');
    // In a span each import is a night of its own.
    const at = new Date('2026-11-20T02:00:00Z');
    const span = { from: at, until: at, asOf: null, runs: [], restores: [] };
    const mass = ofRoster({ joined: 900 });
    const { rosterChanges } = toReport(buildRunFacts({ span, rosterChanges: [first, second, mass] }));
    expect(rosterChanges).toMatchObject({ joined: 1_060, inBulk: ['900 customers joined, 3 % of the roster.'] });
  });

  it('stand near the opening of the page, in the mail, and in bulk in the news', async () => {
    const report = toReport(buildRunFacts({ rosterChanges: [{ ...play(shifted(15, 1)), joined: 900 }] }));
    const counts = '900 customers joined; changed: 15 birth dates';
    const news =
      'The roster changed in bulk: 900 customers joined, 3 % of the roster. All 15 changed birth dates are one day later. Check its source.';
    expect(report.verdict.news).toContain(news);
    const page = await joinChunks(renderHtml(report));
    expect(page.indexOf(`Roster changes: ${counts}.`)).toBeGreaterThan(0);
    expect(page.indexOf(`Roster changes: ${counts}.`)).toBeLessThan(page.indexOf('class="verdict"'));
    expect(page).toContain(news);
    const reader = { address: 'ada@bank.example', shows: 'report', attach: 'none' } as const;
    const mail = buildReportMessage(report, { directory: '/run-1', files: [] }, reader, { from: 'night@bank.example' });
    expect(mail.text).toContain(`retail (changes: ${counts})`);
    expect(mail.text).toContain('Check the source of the roster: it changed in bulk.');
    expect(mail.text.replace(/\s+/g, ' ')).toContain(news);
    const quiet = toReport(buildRunFacts({ rosterChanges: [ofRoster({ joined: 1 })] }));
    expect(quiet.verdict.news).not.toContain('roster');
    expect(await joinChunks(renderHtml(quiet))).toContain('Roster changes: 1 customer joined.');
    expect(await joinChunks(renderHtml(toReport(buildRunFacts())))).not.toContain('Roster changes');
  });
});

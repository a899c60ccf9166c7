import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Match } from '../../../src/matches/match.js';
import { renderHtml } from '../../../src/reports/html-page.js';
import { renderChangesCsv, renderNotScreenedCsv } from '../../../src/reports/lists.js';
import { maskReport, toInitials } from '../../../src/reports/mask-report.js';
import { type Report, toReport } from '../../../src/reports/report.js';
import type {
  ChangeAlertFacts,
  MatchChangeFacts,
  PartyFacts,
  RunFacts,
  ToReviewFacts,
} from '../../../src/reports/run-facts.js';
import { renderJson } from '../../../src/reports/to-report-json.js';
import { renderPartyRejectsCsv, renderRejectsCsv } from '../../../src/reports/write-report.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import { readReportJson } from '../../helpers/report-files.js';
import {
  buildChange,
  buildControl,
  buildMatch,
  buildParty,
  buildToReview,
  buildWaitingAlert,
} from '../../helpers/run-facts.js';

async function renderAll(report: Report): Promise<string> {
  const files = [
    renderHtml(report),
    renderChangesCsv(report),
    renderNotScreenedCsv(report),
    renderRejectsCsv(report),
    renderPartyRejectsCsv(report) ?? [],
    renderJson(report),
  ];
  let text = '';
  for (const file of files) for await (const chunk of file) text += chunk;
  return text;
}

/** An eventful night in which these names stand wherever a name or a text of somebody may stand. */
function plant(names: readonly string[]): RunFacts {
  let planted = 0;
  const next = (): string => names[planted++ % names.length] ?? '';
  const date = '1961-04-17';
  const toParty = (party: PartyFacts): PartyFacts => ({ ...party, name: next(), birthDate: date });
  const toMatch = (match: Match): Match => ({ ...match, name: next(), birthDates: [date, `${next()} 1961`, next()] });
  const toAlert = (): ChangeAlertFacts => ({
    state: 'open',
    openedAt: new Date('2026-11-20T02:00:00Z'),
    dueAt: new Date('2026-11-24T02:00:00Z'),
    assignedTo: next(),
    reopenedBecause: [],
    said: [
      {
        kind: 'decided',
        verdict: 'inconclusive',
        reviewer: next(),
        isAttested: true,
        reason: `asked ${next()}`,
        saidAt: new Date('2026-11-19T09:00:00Z'),
      },
    ],
    replaced: {
      verdict: 'false_positive',
      reviewer: next(),
      reason: `asked ${next()}`,
      decidedAt: new Date('2026-11-19T09:00:00Z'),
      name: next(),
      matchId: 'm-12',
    },
  });
  const toChange = (change: MatchChangeFacts): MatchChangeFacts => ({
    ...change,
    party: toParty(change.party),
    formerParty: toParty(change.party),
    before: change.before && toMatch(change.before),
    after: change.after && toMatch(change.after),
    alert: toAlert(),
  });
  const facts = buildEventfulFacts();
  const cluster = Array.from({ length: 25 }, (_, index) =>
    buildChange({
      changeId: 500 + index,
      severity: 'low',
      kind: 'match_changed',
      fields: ['name'],
      party: buildParty({ reference: `F-${index}` }),
      before: buildMatch({ isHit: false }),
      after: buildMatch({ isHit: false }),
    }),
  );
  const changes = [...facts.changes, ...cluster].map(toChange);
  const who = { acceptedBy: next(), isAttested: true, reason: `for ${next()}`, acceptedAt: new Date(0) };
  const toRecord = () => ({
    name: next(),
    type: 'person',
    birthDate: null,
    countries: [],
    parties: [`director: ${next()}`],
  });
  return {
    ...facts,
    counts: facts.counts && { ...facts.counts, changes: changes.length, rows: 510, rejected: 5 },
    rosterSource: facts.rosterSource && { ...facts.rosterSource, partyRows: 1, partyRejected: 1 },
    settingsChanges: [{ ...who, differences: ['changes.scoreStep was 0.02 and is 0.05'], proposedBy: 'B. Secondo' }],
    rosterAcceptances: [
      {
        ...who,
        heldBy: [{ guard: 'shrink_night', message: '4 of 100 are missing' }],
        changes: [{ reference: 'C-7', before: toRecord(), after: toRecord() }],
      },
    ],
    changes,
    baselineChanges: facts.baselineChanges.map(toChange),
    dossierChanges: facts.dossierChanges.map((change) => ({
      ...change,
      before: change.before && { ...change.before, name: next() },
      after: change.after && { ...change.after, name: next() },
    })),
    notScreened: facts.notScreened.map((line) => ({ ...line, party: toParty(line.party) })),
    rejects: facts.rejects.map((row, index) => ({
      ...row,
      ...(index === 0 ? { reason: 'wrong_column_count' as const, reference: next() } : {}),
      file: index === 1 ? 'parties: directors.csv' : row.file,
      fields: { ...row.fields, name: next(), [next()]: next() },
    })),
    droppedParties: [{ party: toParty(buildParty()), state: 'open_alert', droppedAt: new Date(0) }],
    openAlerts: {
      waiting: 2,
      customers: 1,
      absent: 1,
      overdue: 1,
      unassigned: 0,
      proposed: 0,
      news: { alerts: 0, sanctionHits: 0, expired: 0 },
      oldestAt: new Date(0),
      bySeverity: [{ severity: 'critical', waiting: 2, overdue: 1 }],
      byAssignee: [{ name: next(), waiting: 2, overdue: 1 }],
      byAge: { upToOneDay: 1, upToOneWeek: 0, upToThirtyDays: 1, older: 0 },
    },
    controls: [buildControl({ name: next(), label: next() }), buildControl({ name: next(), expect: 'none' })],
  };
}

/** What waits, with these names wherever one may stand. */
function plantWaiting(names: readonly string[]): ToReviewFacts {
  let planted = 0;
  const next = (): string => names[planted++ % names.length] ?? '';
  const said = () => ({ reviewer: next(), reason: `asked ${next()}`, decidedAt: new Date(0) });
  const toAlert = (mark: string) =>
    buildWaitingAlert({
      mark,
      news: 'opened',
      state: 'pending_approval',
      assignedTo: next(),
      party: buildParty({ name: next(), birthDate: '1961-04-17' }),
      listed: buildMatch({ name: next(), birthDates: ['1961-04-17', next()] }),
      proposal: { verdict: 'true_match', ...said() },
      lastDecision: { verdict: 'inconclusive', ...said() },
      replaced: { verdict: 'false_positive', ...said(), name: next(), matchId: 'm-12' },
      legacy: { verdict: 'false_positive', ...said(), decidedAt: '2021', isSample: false },
    });
  return buildToReview([toAlert('N1-ABCDEFGHJK-0'), toAlert('N2-ABCDEFGHJK-0')]);
}

/** Words that no report says by itself, in several scripts. */
const letters = ['qxzvkjwy', 'жщфэюъыё', 'ضظغخذثؤئ', '鑫龘靐齉爩', 'ㄅㄆㄇㄈㄉ', 'ηθξφψωβζ', 'קטצץףםן'];
const word = fc
  .constantFrom(...letters)
  .chain((alphabet) => fc.string({ unit: fc.constantFrom(...alphabet), minLength: 4, maxLength: 12 }));
const joiner = fc.constantFrom(' ', '-', "'", ', ', ' (', '\u202e', '\u0000', '\t', '/', '"><b>');
const name = fc
  .tuple(word, fc.array(fc.tuple(joiner, word), { maxLength: 3 }))
  .map(([first, others]) => first + others.flat().join(''));

describe('a masked report', () => {
  it('shows no planted name and no word of one in any of its files', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 30 }), async (names) => {
        const text = (await renderAll(maskReport(toReport(plant(names), plantWaiting(names))))).toLowerCase();
        const words = names.flatMap((each) => [
          each,
          ...each.split(/[^\p{L}\p{M}]+/u).filter((part) => part.length >= 4),
        ]);
        expect(words.filter((each) => text.includes(each.toLowerCase()))).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  it('shows no day or month of a birth', async () => {
    const text = await renderAll(maskReport(toReport(plant(['Qxzv Kjwy']), plantWaiting(['Qxzv Kjwy']))));
    expect(text).toContain('1961');
    expect(text).not.toMatch(/1961-0|04-17/);
  });

  it('keeps references, counts, groups and sums, and says that it is masked', async () => {
    const report = toReport(plant(['Qxzv Kjwy']));
    expect(await renderAll(report)).toContain('Qxzv Kjwy');
    const masked = maskReport(report);
    const [whole, part] = [await readReportJson(report), await readReportJson(masked)];
    expect(part.masked).toBe(true);
    expect(whole.masked).toBeUndefined();
    expect(part.coverage).toEqual(whole.coverage);
    expect(part.groups).toEqual(whole.groups);
    expect(part.groups).not.toEqual([]);
    const emit = ({ changes }: typeof whole) =>
      changes?.map(({ party, group, kind }) => [party.reference, group, kind]);
    expect(emit(part)).toEqual(emit(whole));
    const text = await renderAll(masked);
    expect(text).toContain('Rescreening of retail, 2026-11-21 - MASKED</title>');
    expect(text).toContain('MASKED: names are initials');
  });
});

describe('initials', () => {
  it.each([
    ['Amina Haddad', 'A. H.'],
    ['al-Husseini, Yusuf', 'a. H. Y.'],
    ['王秀英', '王.'],
    ['王 秀 英', '*'],
    ['محمد عبد الرحمن', 'م. ع. ا.'],
    ['דוד לוי', 'ד. ל.'],
    ['Madonna', 'M.'],
    ['J. Doe', 'J. D.'],
    ['E\u0301mile Zola', 'E\u0301. Z.'],
    ['=HYPERLINK("http://evil.example")', 'H. h. e. e.'],
    ['<b>', 'b.'],
    ['\u202e', '*'],
    ['', '*'],
  ])('of %s are %s', (text, initials) => {
    expect(toInitials(text)).toBe(initials);
  });

  it('never hold two letters side by side, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        expect(toInitials(text)).not.toMatch(/\p{L}{4}/u);
        expect(toInitials(text)).toBe(toInitials(` ${text} `));
      }),
    );
  });
});

it('names the files of a roster, and not the folders they lie in', () => {
  const facts = buildEventfulFacts();
  const rosterSource = facts.rosterSource && { ...facts.rosterSource, source: '/srv/aroha ngata/a.csv, /srv/b.csv' };
  expect(maskReport(toReport({ ...facts, rosterSource })).evidence.rosterSource?.source).toBe('a.csv, b.csv');
});

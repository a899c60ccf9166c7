import fc from 'fast-check';
import { expect, it } from 'vitest';
import { presentLegacy } from '../../../../src/cli/commands/working-list.js';
import {
  type AssessedRow,
  assessLegacyRows,
  findLegacyAlerts,
  findUntaken,
  isSampled,
  type LegacyFacts,
  type LegacyRow,
} from '../../../../src/runs/review/legacy.js';
import type { LegacyCustomer } from '../../../../src/store/review/legacy.js';
import type { DispositionVerdict } from '../../../../src/vocabulary.js';
import { isFullSize } from '../../../helpers/figures.js';
import { makeMatch } from '../../../helpers/run-facts.js';

type LegacyCandidate = LegacyCustomer['alerts'][number];
const toAlert = (alertId: number, id: string, name: string, birthDates: string[] = []): LegacyCandidate => ({
  alertId,
  accountId: 1,
  mode: 'live',
  listed: makeMatch({ id, name, birthDates }),
  isDecidedHere: false,
  taken: null,
});
const toCustomer = (alerts: LegacyCandidate[], reference = 'C-1', roster = 'retail'): LegacyCustomer => ({
  reference,
  roster,
  alerts,
});
const said = (facts: Partial<LegacyFacts> = {}): LegacyFacts => ({
  reference: 'C-1',
  roster: null,
  matchId: null,
  listedName: null,
  listedBirthDate: null,
  verdict: 'false_positive',
  reason: 'r',
  decidedBy: 'old',
  decidedAt: '3.2.21',
  comment: null,
  ...facts,
});
const cells = {
  customer_id: '',
  roster: '',
  match_id: '',
  listed_name: '',
  listed_birth_date: '',
  decision: '',
  reason: '',
  decided_by: '',
  decided_at: '',
  comment: '',
};
const toRow = (facts: LegacyRow['facts'], line = 2): LegacyRow => ({ sheet: null, line, cells, facts });

it('a row is about the match of its id, else the only one of its name and birth date, and nothing is guessed', () => {
  const alerts = [
    toAlert(1, 'a', 'José Núñez', ['1960-01-02']),
    toAlert(2, 'b', 'Jose Nunez', ['1971']),
    toAlert(3, 'c', 'Ann'),
  ];
  const find = (facts: Partial<LegacyFacts>, customers = [toCustomer(alerts)]) => {
    const found = findLegacyAlerts(said(facts), customers);
    return 'alerts' in found ? found.alerts.map(({ alertId }) => alertId).join() : found.unmatched;
  };
  expect(find({ matchId: 'b' })).toBe('2');
  expect(find({ matchId: 'a', listedName: 'JOSE  nunez', listedBirthDate: '1960' })).toBe('1');
  expect(find({ matchId: 'a', listedName: 'Ann' })).toBe('name_differs');
  expect(find({ matchId: 'a', listedBirthDate: '1999-05-05' })).toBe('birth_date_differs');
  expect(find({ matchId: 'gone', listedName: 'ann' })).toBe('3');
  expect(find({ matchId: 'gone' })).toBe('not_listed');
  expect(find({ listedName: 'jose nunez' })).toBe('ambiguous');
  expect(find({ listedName: 'jose nunez', listedBirthDate: '1971-03-04' })).toBe('2');
  expect(find({ listedName: 'Ann', listedBirthDate: '1971' })).toBe('birth_date_differs');
  expect(find({ reference: 'C-2', listedName: 'Ann' })).toBe('unknown_customer');
  const both = [toCustomer(alerts), toCustomer([toAlert(9, 'z', 'Ann')], 'C-1', 'corporate')];
  expect(find({ listedName: 'Ann' }, both)).toBe('several_rosters');
  expect(find({ listedName: 'Ann', roster: 'corporate' }, both)).toBe('9');
  expect(find({ listedName: 'Ann', roster: 'none' }, both)).toBe('unknown_customer');
  const onTest = (...more: LegacyCandidate[]) =>
    more.map((alert) => ({ ...alert, accountId: 2, mode: 'test' }) as const);
  const twoAccounts = [toCustomer([...alerts, ...onTest(toAlert(4, 'y', 'Ann'), toAlert(5, 'b', 'Eve'))])];
  expect(find({ matchId: 'c', listedName: 'Ann' }, twoAccounts)).toBe('3,4');
  expect(find({ matchId: 'b', listedName: 'Jose Nunez' }, twoAccounts)).toBe('2');
  expect(find({ listedName: 'Eve' }, twoAccounts)).toBe('5');
  const doubtful = [toCustomer([...alerts, ...onTest(toAlert(4, 'y', 'Ann'), toAlert(5, 'z', 'Ann'))])];
  expect(find({ matchId: 'c', listedName: 'Ann' }, doubtful)).toBe('ambiguous');
});

it('a row is judged on each account where its match is, and told once with the account where it is not taken', () => {
  const here = { ...toAlert(1, 'a', 'Ann'), isDecidedHere: true };
  const onTest = { ...toAlert(2, 'a', 'Ann'), accountId: 2, mode: 'test' } as const;
  const row = toRow(said({ matchId: 'a' }));
  const assessed = assessLegacyRows([row], [toCustomer([here, onTest])], () => false);
  expect(assessed).toMatchObject([
    { kind: 'refused', mode: 'live', reason: 'decided_here' },
    { kind: 'decided', mode: 'test', alertId: 2 },
  ]);
  expect(findUntaken(assessed)).toMatchObject([
    { row, problem: 'live account: a reviewer has already entered a disposition here' },
  ]);
  const where = { storing: 'again', unmatched: 'unmatched.csv', wasApplied: true };
  const emit = (rows: readonly AssessedRow[]) =>
    presentLegacy({ isApplied: true, rows, proposed: 0, unread: [], guessedEncoding: null }, findUntaken(rows), where)
      .text.trimEnd()
      .split('\n');
  expect(emit(assessed)).toEqual(expect.arrayContaining(['of these on a test account  1', 'stored']));
  expect(emit(assessed.slice(0, 1)).at(-1)).toMatch(/^nothing was stored/);
});

it('each row of any list comes out once and in its place, and no alert is decided twice or against somebody here', () => {
  const verdict = fc.constantFrom<DispositionVerdict>('true_match', 'false_positive', 'inconclusive');
  const name = fc.constantFrom('Ann', 'Ben', 'Cid', 'Eve');
  const alert = fc.record({ name, isDecidedHere: fc.boolean(), taken: fc.option(verdict) });
  const alerts = fc.array(alert, { maxLength: 5 });
  const facts = fc.record({
    reference: fc.constantFrom('C-1', 'C-2', 'C-3'),
    listedName: name,
    verdict,
    matchId: fc.option(fc.constantFrom('C-1/0', 'C-2/1', 'none')),
  });
  const row = fc.oneof({ weight: 8, arbitrary: facts }, { weight: 1, arbitrary: fc.constant(null) });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), alerts, alerts, fc.nat(3), (list, first, second, part) => {
      const toAlerts = (from: typeof first, reference: string, start: number) =>
        from.map(({ name, ...rest }, index) => ({
          ...toAlert(start + index, `${reference}/${index}`, name),
          ...rest,
        }));
      const customers = [toCustomer(toAlerts(first, 'C-1', 1)), toCustomer(toAlerts(second, 'C-2', 10), 'C-2')];
      const rows = list.map((one, index) => toRow(one === null ? { problem: 'odd' } : said(one), index + 2));
      const assessed = assessLegacyRows(rows, customers, (alertId) => alertId % 4 === part);
      expect(assessed.map(({ row: { line } }) => line)).toEqual(rows.map(({ line }) => line));
      const taken = assessed.flatMap((one) => ('alertId' in one ? [one] : []));
      expect(new Set(taken.map(({ alertId }) => alertId)).size).toBe(taken.length);
      const byId = new Map(customers.flatMap((customer) => customer.alerts.map((one) => [one.alertId, one])));
      for (const {
        alertId,
        kind,
        facts: { verdict },
      } of taken) {
        expect(byId.get(alertId)).toMatchObject({ isDecidedHere: false, taken: null });
        expect(kind).toBe(verdict === 'false_positive' && alertId % 4 === part ? 'sample' : 'decided');
      }
      const again = customers.map((customer) => ({
        ...customer,
        alerts: customer.alerts.map((one) => {
          const made = taken.find(({ alertId }) => alertId === one.alertId);
          return made === undefined ? one : { ...one, taken: made.facts.verdict };
        }),
      }));
      const kinds = assessLegacyRows(rows, again, () => false).map(({ kind }) => kind);
      expect(kinds).toEqual(assessed.map(({ kind }) => (kind === 'decided' || kind === 'sample' ? 'same' : kind)));
    }),
    { numRuns: isFullSize ? 300 : 100 },
  );
});

it('rows that contradict each other decide nothing, rows that agree count once', () => {
  const customers = [toCustomer([toAlert(1, 'a', 'Ann')])];
  const assess = (...verdicts: DispositionVerdict[]) =>
    assessLegacyRows(
      verdicts.map((verdict, index) => toRow(said({ listedName: 'Ann', verdict }), index + 2)),
      customers,
      () => false,
    ).map(({ kind }) => kind);
  expect(assess('false_positive', 'false_positive')).toEqual(['decided', 'same']);
  expect(assess('false_positive', 'true_match')).toEqual(['refused', 'refused']);
});

it('a row that cannot be taken for another reason contradicts all the same, and only what it could mean', () => {
  const customers = [toCustomer([toAlert(1, 'a', 'Ann Lee', ['1960']), toAlert(2, 'b', 'Ann Lee', ['1971'])])];
  const assess = (...rows: LegacyRow[]) => assessLegacyRows(rows, customers, () => false).map(({ kind }) => kind);
  const ours = toRow(said({ matchId: 'a' }));
  const unreadable = (said: Partial<LegacyRow['cells']>): LegacyRow => ({
    sheet: null,
    line: 3,
    cells: { ...cells, customer_id: 'C-1', decision: 'True Match', ...said },
    facts: { problem: 'decided_by is empty' },
  });
  const against = (other: LegacyRow) => assess(ours, other)[0];
  expect(against(unreadable({ match_id: 'a' }))).toBe('refused');
  expect(against(unreadable({ listed_name: 'ANN LEE' }))).toBe('refused');
  expect(against(unreadable({ match_id: 'gone', listed_name: 'Ann Lee', listed_birth_date: '1950' }))).toBe('refused');
  expect(against(unreadable({ match_id: 'a', roster: 'retial' }))).toBe('refused');
  expect(against(unreadable({ match_id: 'a', decision: 'it is him' }))).toBe('refused');
  expect(against(toRow(said({ matchId: 'a', listedBirthDate: '1950', verdict: 'true_match' }), 3))).toBe('refused');
  expect(against(toRow(said({ matchId: 'a', listedName: 'Bob', verdict: 'true_match' }), 3))).toBe('refused');
  expect(against(unreadable({ match_id: 'a', decision: 'false positive' }))).toBe('decided');
  expect(against(unreadable({ match_id: 'a', decision: '' }))).toBe('decided');
  expect(against(unreadable({ match_id: 'b' }))).toBe('decided');
  expect(against(unreadable({ customer_id: 'C-2', match_id: 'a' }))).toBe('decided');
});

it('the sample is one in twenty, the same for an alert every time, and another for every key', () => {
  const sampled = (key: string) => Array.from({ length: 5_000 }, (_, id) => isSampled(id, Buffer.from(key)));
  const [one, other] = [sampled('one'), sampled('other')];
  const count = one.filter(Boolean).length;
  expect(count).toBeGreaterThan(180);
  expect(count).toBeLessThan(320);
  expect(sampled('one')).toEqual(one);
  expect(one.filter((is, id) => is && other[id]).length).toBeLessThan(40);
});

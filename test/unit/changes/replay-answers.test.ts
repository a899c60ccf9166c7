import fc from 'fast-check';
import { expect, it } from 'vitest';
import { replayAnswers, type StoredAnswer } from '../../../src/changes/replay-answers.js';
import { changeSettingsSchema } from '../../../src/changes/severity.js';
import type { Match } from '../../../src/matches/match.js';
import { makeMatch } from '../../helpers/run-facts.js';

const match = (score: number, facts: Partial<Match> = {}): Match =>
  makeMatch({ id: 'amla_1', isHit: false, score, topics: ['poi'], ...facts });

const answer = (responseId: number, matches: readonly Match[], facts: Partial<StoredAnswer> = {}): StoredAnswer => ({
  responseId,
  requestId: 1,
  customerVersion: 1,
  settingsDigest: 'a',
  matchSet: { total: matches.length, truncated: false, matches },
  party: { birthDate: null, countries: [], riskTier: null },
  customer: { role: 'customer', type: 'person', name: 'Somebody', birthDate: null, countries: [] },
  trueMatchIds: new Set(),
  decidedIds: new Set(),
  ...facts,
});

const settings = (given: object = {}) => changeSettingsSchema.parse(given);
const kindsOf = (answers: readonly StoredAnswer[], given: object = {}): string[][] =>
  replayAnswers(answers, settings(given)).map(({ changes }) => changes.map(({ difference }) => difference.kind));

it('a score that creeps is told when it has moved by the step of these settings, not by that of others', () => {
  const creeping = [0.5, 0.51, 0.52, 0.53, 0.54].map((score, at) => answer(at + 1, [match(score)]));
  expect(kindsOf(creeping)).toEqual([['match_added'], [], ['match_changed'], [], ['match_changed']]);
  expect(kindsOf(creeping, { scoreStep: 0.04 })).toEqual([['match_added'], [], [], [], ['match_changed']]);
});

it('from a decision on a score is measured from the one that was decided on', () => {
  const sanction = { isHit: true, topics: ['sanction'] };
  const another = match(0.6, { id: 'amla_2', name: 'Another' });
  const nights = (decidedIds: string[]) => [
    answer(1, [match(0.5, sanction)]),
    answer(2, [match(0.515, sanction), another]),
    answer(3, [match(0.525, sanction), another], { decidedIds: new Set(decidedIds) }),
  ];
  expect(kindsOf(nights([]))).toEqual([['match_added'], ['match_added'], ['match_changed']]);
  expect(kindsOf(nights(['amla_1']))).toEqual([['match_added'], ['match_added'], []]);
});

it('what was removed and comes back is returned, and an alert is opened once', () => {
  const hit = match(0.9, { isHit: true, topics: ['sanction'] });
  const nights = [[hit], [], [hit]].map((matches, at) => answer(at + 1, matches));
  expect(kindsOf(nights)).toEqual([['match_added'], ['match_removed'], ['match_returned']]);
  expect(replayAnswers(nights, settings()).map(({ opened }) => opened.length)).toEqual([1, 0, 0]);
});

it('whether a match below the threshold becomes an alert is for the table to say', () => {
  const nights = [answer(1, []), answer(2, [match(0.6, { topics: ['sanction'] })])];
  expect(replayAnswers(nights, settings()).flatMap(({ opened }) => opened)).toEqual([]);
  const stricter = settings({ severities: { sanction_below_threshold: 'high' } });
  expect(replayAnswers(nights, stricter).flatMap(({ opened }) => opened)).toHaveLength(1);
});

it('the severity table alone moves no event: under any table there are the same ones', () => {
  const scores = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(scores, fc.constantFrom('high', 'low', 'info'), (list, severity) => {
      const nights = list.map((score, at) => answer(at + 1, score < 0.2 ? [] : [match(score, { isHit: score > 0.8 })]));
      expect(kindsOf(nights, { severities: { other_change: severity, hit_gained: severity } })).toEqual(
        kindsOf(nights),
      );
    }),
  );
});

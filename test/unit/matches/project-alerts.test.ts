import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Alert,
  type AlertStep,
  projectAlerts,
  type ReviewedParty,
  type SeenCustomer,
  toSeenFacts,
  toState,
} from '../../../src/matches/alert.js';
import type { Match } from '../../../src/matches/match.js';
import type { DispositionVerdict } from '../../../src/vocabulary.js';
import { isFullSize } from '../../helpers/figures.js';
import { makeMatch } from '../../helpers/run-facts.js';
import { arbitraryMatchSet } from '../changes/arbitrary-matches.js';

const customer: SeenCustomer = {
  role: 'customer',
  type: 'person',
  name: 'Ada Ficticia',
  birthDate: '1961-04-09',
  countries: ['fr'],
};
const now = new Date('2026-11-22T02:00:00Z');
const match = (facts: Partial<Match> = {}): Match =>
  makeMatch({ topics: ['sanction'], birthDates: ['1961-04-09'], countries: ['fr'], ...facts });

const undecided = (facts: Partial<Match> = {}, alertId = 1): Alert => ({
  alertId,
  listed: match(facts),
  state: 'open',
  absence: null,
  disposition: null,
});
const decide = (alert: Alert, verdict: DispositionVerdict): Alert => {
  const seen = toSeenFacts(customer, alert.listed);
  const disposition = { verdict, isFinal: true, seen, expiresAt: null };
  return { ...alert, disposition, state: toState(disposition) };
};
const settled = (facts: Partial<Match> = {}, alertId = 1): Alert => decide(undecided(facts, alertId), 'false_positive');
const project = (
  alerts: readonly Alert[],
  matches: readonly Match[],
  about: SeenCustomer = customer,
  party: Partial<ReviewedParty> = {},
) => {
  const rules = { isCurrent: true, needsReview: ({ isHit }: Match) => isHit, causeOf: () => 'service_data' as const };
  return projectAlerts({ customer: about, matches, alerts, ...rules, ...party }, now);
};

/** The alerts as they are after what was projected. */
function apply(alerts: readonly Alert[], steps: readonly AlertStep[]): readonly Alert[] {
  const opened = steps.flatMap((step) => (step.kind === 'opened' ? [step.match] : []));
  const news = new Map(steps.flatMap((step) => (step.kind === 'opened' ? [] : [[step.alert.alertId, step] as const])));
  const kept = alerts.map((alert): Alert => {
    const step = news.get(alert.alertId);
    if (step === undefined) return alert;
    if (step.kind === 'auto_closed') return { ...alert, state: 'no_longer_matched', absence: step.absence };
    if (step.kind === 'absent') {
      return {
        ...alert,
        listed: step.listed,
        absence: step.absence,
        state: alert.state === 'true_match' ? 'open' : alert.state,
      };
    }
    if (step.kind === 'carried') return { ...alert, listed: step.match, absence: null, state: step.state };
    return { ...alert, listed: step.match, absence: null, state: 'open', disposition: null };
  });
  const ofNew = opened.map((listed, index): Alert => ({ ...undecided(), alertId: alerts.length + index + 1, listed }));
  return [...kept, ...ofNew];
}

describe('projectAlerts', () => {
  it('a hit becomes an alert once, and a weak match none', () => {
    const hits = [match(), match({ id: 'amla_two', name: 'Somebody Else', isHit: false })];
    const steps = project([], hits);
    expect(steps).toMatchObject([{ kind: 'opened', match: { id: 'amla_one' } }]);
    expect(project(apply([], steps), hits)).toEqual([]);
  });

  it('a decision holds while what was seen is the same: another score, rank, spelling, order or id opens nothing', () => {
    const now = match({
      id: 'amla_other',
      rank: 4,
      score: 0.71,
      name: 'ÀDA  ficticia',
      countries: ['fr', 'fr'],
    });
    expect(project([settled()], [now])).toMatchObject([{ kind: 'carried', state: 'false_positive', match: now }]);
  });

  it.each([
    ['another birth date', { birthDates: ['1961-04-09', '1960'] }, 'listed_birth_date'],
    ['another topic', { topics: ['sanction', 'crime'] }, 'listed_topics'],
    ['another country', { countries: ['ru'] }, 'listed_country'],
    ['another name under the same id', { name: 'Boris Invented' }, 'listed_name'],
    ['another kind', { schema: 'Company' }, 'listed_schema'],
  ])('%s opens it again and says so', (_title, facts, reason) => {
    expect(project([settled()], [match(facts)])).toMatchObject([{ kind: 'reopened', reasons: [reason] }]);
  });

  it('what changes about the customer opens it again, confirmed or settled', () => {
    const about = { ...customer, birthDate: '1962-04-09', countries: ['de'] };
    for (const alert of [settled(), decide(settled(), 'true_match')]) {
      expect(project([alert], [match()], about)).toMatchObject([
        { kind: 'reopened', reasons: ['customer_birth_date', 'customer_country'] },
      ]);
    }
  });

  it('a decision whose seen facts are erased re-opens the alert, whatever it was', () => {
    for (const alert of [settled(), decide(settled(), 'true_match')]) {
      const disposition = alert.disposition && { ...alert.disposition, seen: null };
      expect(project([{ ...alert, disposition }], [match()])).toMatchObject([
        { kind: 'reopened', reasons: ['erased'] },
      ]);
    }
  });

  it('a decision that has run out opens the alert again', () => {
    const alert = settled();
    const { disposition } = alert;
    if (disposition === null) throw new Error('no decision');
    const until = (expiresAt: Date): Alert => ({ ...alert, disposition: { ...disposition, expiresAt } });
    expect(project([until(new Date('2026-11-22T01:59:59Z'))], [match()])).toMatchObject([{ reasons: ['expired'] }]);
    expect(project([until(new Date('2026-11-22T02:00:01Z'))], [match()])).toEqual([]);
    // It was open before its match was absent, so that the absence closes nothing.
    expect(project([until(new Date('2026-11-22T01:59:59Z'))], [])).toMatchObject([{ kind: 'absent', hasRunOut: true }]);
    expect(project([until(new Date('2026-11-22T02:00:01Z'))], [])).toMatchObject([{ kind: 'auto_closed' }]);
  });

  it('a settled match that was away is settled when it is back the same, and open when it is not', () => {
    const away = apply([settled()], project([settled()], []));
    expect(away).toMatchObject([{ state: 'no_longer_matched', absence: 'not_returned' }]);
    expect(project(away, [])).toEqual([]);
    expect(project(away, [match({ id: 'amla_new' })])).toMatchObject([{ kind: 'carried', state: 'false_positive' }]);
    expect(project(away, [match({ topics: ['crime'] })])).toMatchObject([{ kind: 'reopened' }]);
  });

  it('one person’s proposal settles nothing, neither when it stands nor when its match was away', () => {
    const { disposition, ...alert } = settled();
    if (disposition === null) throw new Error('no decision');
    const proposed: Alert = { ...alert, state: 'pending_approval', disposition: { ...disposition, isFinal: false } };
    expect(project([proposed], [match({ topics: [] })])).toMatchObject([{ kind: 'reopened' }]);
    const absent = apply([proposed], project([proposed], []));
    expect(absent).toMatchObject([{ state: 'pending_approval', absence: 'not_returned' }]);
    expect(project(absent, [match()])).toMatchObject([{ kind: 'carried', state: 'pending_approval' }]);
  });

  it.each([
    ['undecided', undecided()],
    ['inconclusive', decide(undecided(), 'inconclusive')],
    ['true match', decide(undecided(), 'true_match')],
  ])(
    'absence closes nothing that is %s: it waits with the reason, and is as before when its match returns',
    (_title, alert) => {
      const lost: readonly [readonly Match[], Partial<ReviewedParty>, string][] = [
        [[], {}, 'not_returned'],
        [[match({ isHit: false, score: 0.6 })], {}, 'below_threshold'],
        [[], { causeOf: () => 'customer_record' }, 'customer_changed'],
        [[match({ isHit: false })], { causeOf: () => 'settings' }, 'settings_changed'],
        [[match()], { isCurrent: false }, 'customer_changed'],
      ];
      for (const [matches, party, absence] of lost) {
        const steps = project([alert], matches, customer, party);
        expect(steps).toMatchObject([{ kind: 'absent', absence }]);
        const absent = apply([alert], steps);
        expect(project(absent, matches, customer, party)).toEqual([]);
        expect(apply(absent, project(absent, [match()]))).toEqual([alert]);
      }
    },
  );

  it('what is absent by the customer’s record stays so, and what is absent by the service may change its kind', () => {
    const absent = (absence: Alert['absence']): Alert => ({ ...undecided(), absence });
    expect(project([absent('below_threshold')], [])).toMatchObject([{ kind: 'absent', absence: 'not_returned' }]);
    expect(project([absent('customer_changed')], [])).toEqual([]);
    expect(project([absent('settings_changed')], [match({ isHit: false })])).toEqual([]);
  });

  it('a match that gets another id below the threshold is known by it when it is a hit again', () => {
    const below = match({ id: 'amla_new', isHit: false, score: 0.6 });
    const absent = apply([undecided()], project([undecided()], [below]));
    expect(absent).toMatchObject([{ absence: 'below_threshold', listed: { id: 'amla_new', isHit: true } }]);
    expect(project(absent, [below])).toEqual([]);
    const back = match({ id: 'amla_new', name: 'Ada Renamed' });
    expect(project(absent, [back])).toMatchObject([{ kind: 'carried', state: 'open' }]);
  });

  it('a return after no_longer_matched opens the alert again, also when only one person had proposed that', () => {
    const ended: Alert = { ...decide(undecided(), 'no_longer_matched'), absence: 'not_returned' };
    expect(ended.state).toBe('no_longer_matched');
    expect(project([ended], [])).toEqual([]);
    expect(project([ended], [match()])).toMatchObject([{ kind: 'reopened', reasons: ['returned'] }]);
    const proposed: Alert = { ...ended, state: 'pending_approval' };
    expect(project([proposed], [match()])).toMatchObject([{ kind: 'reopened', reasons: ['returned'] }]);
  });

  it('a new hit of a party that the roster no longer names is an alert that is absent from the start', () => {
    const steps = project([], [match()], customer, { isCurrent: false });
    expect(steps).toMatchObject([{ kind: 'opened', absence: 'customer_changed' }]);
  });

  it('what could not be told stays open', () => {
    const alert = decide(settled(), 'inconclusive');
    expect(alert.state).toBe('open');
    expect(project([alert], [match({ topics: ['crime'] })])).toMatchObject([{ kind: 'carried', state: 'open' }]);
  });

  it('an id that passes to another listed party takes no decision with it', () => {
    const other = match({ name: 'Boris Invented', birthDates: [] });
    const steps = project([settled()], [other]);
    expect(steps.every((step) => step.kind !== 'carried')).toBe(true);
    // The same person under a new id, and somebody else under the old one.
    const both = project([settled()], [match({ id: 'amla_new' }), other]);
    expect(apply([settled()], both).filter(({ state }) => state === 'false_positive').length).toBeLessThanOrEqual(1);
    expect(apply([settled()], both).some(({ state }) => state === 'open')).toBe(true);
  });

  it('every hit of any night is an alert, none twice, and the same night again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(arbitraryMatchSet, { minLength: 1, maxLength: 4 }), (nights) => {
        let alerts: readonly Alert[] = [];
        for (const { matches } of nights) {
          alerts = apply(alerts, project(alerts, matches));
          expect(project(alerts, matches)).toEqual([]);
          const present = alerts
            .filter(({ state, absence }) => state !== 'no_longer_matched' && absence === null)
            .map(({ listed }) => listed);
          for (const hit of matches.filter(({ isHit }) => isHit)) expect(present).toContainEqual(hit);
          expect(present.length).toBeLessThanOrEqual(matches.length);
          alerts = alerts.map((alert) =>
            alert.state === 'open' && alert.alertId % 2 === 0 ? decide(alert, 'true_match') : alert,
          );
        }
      }),
      { numRuns: isFullSize ? 1_000 : 100 },
    );
  });

  it('a match that may be any of several alerts is taken for the one that matters most, never for the settled one', () => {
    const second = undecided({ id: 'amla_b' }, 2);
    for (const other of [second, decide(second, 'true_match')]) {
      const steps = project([settled({ id: 'amla_a' }), other], [match({ id: 'amla_new' })]);
      expect(steps).toMatchObject([
        { kind: 'carried', alert: { alertId: 2 }, state: other.state },
        { kind: 'auto_closed', alert: { alertId: 1 } },
      ]);
    }
  });
});

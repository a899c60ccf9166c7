import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { changeSettingsSchema } from '../../../src/changes/severity.js';
import { guardsSchema } from '../../../src/roster/guards.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import { showAlerts } from '../../../src/runs/review/decide.js';
import { reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { runScreening } from '../../../src/runs/screening-run.js';
import { acceptSettings, findUnacceptedSettings, toAssessmentSettings } from '../../../src/runs/settings-acceptance.js';
import { screeningSettingsSchema } from '../../../src/screening/settings.js';
import type { Database } from '../../../src/store/database/database.js';
import { json, rawSql, sql } from '../../../src/store/database/statement.js';
import { readSettingsHistory } from '../../../src/store/organisations.js';
import { testDatabases, toAccepterGrants, toReviewerGrants } from '../../helpers/databases.js';
import { decideByMarks, withLogins } from '../../helpers/reviewers.js';
import { makeAcceptance, openSmallSites } from '../../helpers/small-site.js';
import { controls, dayMs } from '../../helpers/small-world.js';

const toGrants = (login: string): string => [toReviewerGrants(login), ...toAccepterGrants(login)].join('\n');

const paths = z.array(z.string());

describe('settings that may release somebody where four eyes are in force', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);
  const reviewOf = (review: object) => ({ review: reviewSettingsSchema.parse(review) });
  const four = reviewOf({ fourEyes: ['critical', 'high'] });
  const none = reviewOf({});

  const accept = async (app: AppContext, database: Database) =>
    acceptSettings({ ...app, database }, await makeAcceptance({ database }));

  /** Releases an alert as one person. */
  async function release(app: AppContext, database: Database, reference = 'C-1') {
    const own = { ...app, database };
    const [alert] = await showAlerts(own, reference);
    return (await decideByMarks(own, [alert?.mark ?? '']))[0]?.kind;
  }

  it('stay as they were until a second person accepts them, with any key, and one person cannot be both', async () => {
    const { database: owner, roster, work } = await begin();
    const options = { kind: 'rescreen', roster, selection: 'all', importFirst: true, writeReport: false } as const;
    const night = (app: AppContext) => runScreening(app, options, new AbortController().signal);
    await night(await work({ offsetMs: -4 * dayMs, settings: four }));
    await withLogins(owner, ['ada', 'boris'], toGrants, async (ada = owner, boris = owner) => {
      const loose = await work({ offsetMs: -3 * dayMs, settings: none });
      // The key is a test key, with which other settings apply at once.
      await expect(night(loose)).rejects.toThrow(/which takes two people for review.fourEyes/);
      expect(await accept(loose, ada)).toMatchObject({ recorded: false, isProposed: true, ofTwo: ['review.fourEyes'] });
      await expect(night(loose)).rejects.toThrow(/takes two people/);
      expect(await release(loose, ada)).toBe('proposed');
      const { waiting, differences } = await findUnacceptedSettings(owner, loose.settings);
      expect([waiting.length, differences]).toEqual([1, ['review.fourEyes was a list of 2 and is a list of 0']]);
      // The second night, with the settings before.
      const second = await night(await work({ offsetMs: -2 * dayMs, settings: four }));
      expect(second).toMatchObject({ state: 'complete' });
      expect(await release(loose, ada)).toBe('same_already');
      // Neither the command nor SQL lets the same person accept twice.
      expect(await accept(loose, ada)).toMatchObject({ recorded: false, isProposed: true });
      const [kept] = await readSettingsHistory(owner, 'default');
      const byHand = (settings: object) =>
        ada.execute(
          sql`insert into acceptance (kind, organisation_id, is_proposal, settings, digest, differences, accepted_by, is_attested, reason, accepted_at)
           values ('settings', 1, false, ${JSON.stringify(settings)}::text::jsonb, '', '{}', session_user, false, 'alone', now())`,
        );
      const looser = toAssessmentSettings(loose.settings);
      await expect(byHand(looser)).rejects.toThrow(/accepting review.fourEyes takes two people/);
      await expect(byHand({ ...kept?.settings, review: {} })).rejects.toThrow(/takes two people/);
      await expect(byHand({})).rejects.toThrow(/settings_have_their_form/);
      await expect(byHand([])).rejects.toThrow(/settings_have_their_form/);
      for (const bad of [[7], [null], ['x'], [[]], [[controls[0]]], 'x', {}, [...controls, 7], Array(1001).fill({})]) {
        await expect(byHand({ ...kept?.settings, controls: bad })).rejects.toThrow(/settings_have_their_form/);
      }
      // The first import was made with guards that nobody has accepted, because they are the defaults.
      const guardless = { ...kept?.settings, guards: {} };
      await owner.runScript(`alter table acceptance disable trigger user;
        update acceptance set settings = settings || '{"guards": {}}' where not is_proposal;
        alter table acceptance enable trigger user`);
      const guarded = { ...guardless, guards: { [roster.name]: { maxShrinkNight: 1 } } };
      await expect(byHand(guarded)).rejects.toThrow(/accepting guards.people.maxShrinkNight takes two people/);
      const stricter = (columns: string) =>
        ada.execute(
          sql`insert into acceptance (kind, organisation_id, accepted_by, is_attested, digest, settings, differences, reason, accepted_at)
           values ('settings', 1, session_user, false, '', ${JSON.stringify(kept?.settings)}::text::jsonb, ${rawSql(columns)})`,
        );
      const trials: readonly (readonly [columns: string, reason: RegExp])[] = [
        [`'{x,null}', 'r', now()`, /are_clean_texts/],
        [`'{{x,y}}', 'r', now()`, /are_clean_texts|multidimensional/],
        [`array[repeat('x', 2000000)], 'r', now()`, /are_clean_texts/],
        [`'{}', '  ', now()`, /is_not_blank/],
        [`'{}', E'\\u0003', now()`, /has_no_control_characters/],
        [`'{}', repeat('x', 10000000), now()`, /is_not_too_long/],
        [`'{}', 'r', 'infinity'`, /cannot accept anything at a time in the future/],
        [`'{}', 'r', now() + interval '2 days'`, /cannot accept anything at a time in the future/],
      ];
      for (const [columns, reason] of trials) await expect(stricter(columns), columns).rejects.toThrow(reason);
      // Whoever accepts again what is in force does not end the proposal. Another person accepts the same.
      await byHand(guardless);
      expect(await accept(loose, boris)).toMatchObject({ recorded: true, isProposed: false });
      const [login = ''] = (await readSettingsHistory(owner, 'default'))
        .map(({ proposedBy }) => proposedBy ?? '')
        .slice(-1);
      expect(login).toMatch(/^ada_/);
      expect(await night(loose)).toMatchObject({ state: 'complete' });
      expect(await release(loose, boris, 'C-2')).toBe('decided');
      // Stricter again: one person.
      const strict = await work({ offsetMs: -dayMs, settings: four });
      expect(await accept(strict, boris)).toMatchObject({ recorded: true, ofTwo: [] });
      expect(await night(strict)).toMatchObject({ state: 'complete' });
      expect(await accept(await work({ settings: none }), boris)).toMatchObject({ recorded: false, isProposed: true });
    });
  });

  it('are all that are not known to be stricter', async () => {
    const { database, work, roster } = await begin();
    const settings = async (changed: object) =>
      toAssessmentSettings((await work({ settings: { ...four, ...changed } })).settings);
    const before = await settings({ rosters: [{ ...roster, guards: guardsSchema.parse({}) }] });
    const looser = async (after: object, from: object = before, imported: readonly string[] = []) => {
      const found = sql`select find_looser_settings(${json(from)}, ${json(after)}, ${imported}) as paths`;
      const [row] = await database.query(z.object({ paths }), found);
      return row?.paths;
    };
    const guards = (values: object) => ({ rosters: [{ ...roster, guards: guardsSchema.parse(values) }] });
    const review = (values: object) => reviewOf({ fourEyes: ['critical', 'high'], ...values });
    const screening = (values: object) => ({ screening: screeningSettingsSchema.parse(values) });
    const changes = (values: object) => ({ changes: changeSettingsSchema.parse(values) });
    const whole = guards({});
    const trials: readonly (readonly [changed: object, looser: readonly string[]])[] = [
      [{}, []],
      [reviewOf({ fourEyes: ['critical', 'high', 'low'] }), []],
      [reviewOf({ fourEyes: ['high'] }), ['review.fourEyes']],
      [reviewOf({ fourEyes: ['low', 'medium', 'info'] }), ['review.fourEyes']],
      [review({ autoClose: true }), ['review.autoClose']],
      [review({ expiresAfterDays: { critical: 90 } }), []],
      [{ controls: controls.slice(0, 1) }, ['controls']],
      [{ controls: [] }, ['controls']],
      [{ controls: [...controls, { type: 'person', name: 'Another', expect: 'none' }] }, []],
      [changes({ scoreStep: 0.01 }), []],
      [changes({ scoreStep: 0.5 }), ['changes.scoreStep']],
      [changes({ severities: { sanction_hit_gained: 'low' } }), ['changes.severities.sanction_hit_gained']],
      [screening({ cadenceHours: 12 }), []],
      [screening({ reuseMaxAge: '12h' }), ['screening.reuseMaxAge']],
      [screening({ leaveAfterDays: 9 }), []],
      [screening({ leaveAfterDays: 2 }), ['screening.leaveAfterDays']],
      [screening({ controlsEvery: 20_000 }), ['screening.controlsEvery']],
      [guards({ maxShrinkNight: 0.001 }), []],
      [guards({ maxShrinkNight: 1 }), ['guards.people.maxShrinkNight']],
    ];
    for (const [changed, expected] of trials) {
      expect([changed, await looser(await settings({ ...whole, ...changed }))]).toEqual([changed, expected]);
    }
    const expiring = await settings({ ...whole, ...review({ expiresAfterDays: { critical: 90 } }) });
    const later = await settings({ ...whole, ...review({ expiresAfterDays: { critical: 91 } }) });
    expect(await looser(later, expiring)).toEqual(['review.expiresAfterDays.critical']);
    expect(await looser(before, expiring)).toEqual(['review.expiresAfterDays.critical']);
    expect(await looser(before, later)).toEqual(['review.expiresAfterDays.critical']);
    // What no configuration can hold.
    const impossible: readonly (readonly [changed: object, looser: string])[] = [
      [{ review: { ...four.review, expiresAfterDays: { critical: 0 } } }, 'review.expiresAfterDays.critical'],
      [{ review: { ...four.review, expiresAfterDays: { critical: -1 } } }, 'review.expiresAfterDays.critical'],
      [{ changes: { ...changes({}).changes, scoreStep: -1 } }, 'changes.scoreStep'],
      [{ changes: { ...changes({}).changes, scoreStep: 0 } }, 'changes.scoreStep'],
      [{ screening: { ...screening({}).screening, cadenceHours: 0 } }, 'screening.cadenceHours'],
      [{ screening: { ...screening({}).screening, controlsEvery: -5 } }, 'screening.controlsEvery'],
    ];
    for (const [changed, expected] of impossible) {
      expect([changed, await looser({ ...before, ...changed })]).toEqual([changed, expect.arrayContaining([expected])]);
    }
    // Guards of a roster that nobody knows; that was imported with the defaults; and that vanish, so that they would be new afterwards.
    const of = (guards: object) => ({ ...before, guards });
    expect(await looser(of({ other: { maxRejectShare: 1 } }), of({}))).toEqual([]);
    const loosened = ['guards.other.maxRejectShare'];
    expect(await looser(of({ other: { maxRejectShare: 1 } }), of({}), ['other'])).toEqual(loosened);
    expect(await looser(of({ other: { maxRejectShare: 0.1 } }), of({ other: { maxRejectShare: 0.2 } }))).toEqual([]);
    expect(await looser(of({ other: { maxRejectShare: 0 } }), of({ other: { maxRejectShare: 0.2 } }))).toEqual([]);
    expect(await looser(of({ other: { maxRejectShare: -1 } }), of({ other: { maxRejectShare: 0.2 } }))).toEqual(
      loosened,
    );
    expect(await looser(of({}), of({ other: {} }))).toEqual(['guards.other']);
    const excepting = (...ignore: string[]) => ({ ...before, rosters: { people: { columns: { ignore } } } });
    const excepted = ['rosters.people.columns.ignore'];
    expect(await looser(excepting('Adviser', 'Joint holder'), excepting('Adviser'))).toEqual(excepted);
    expect(await looser(excepting('Joint holder'), before)).toEqual(excepted);
    expect(await looser(excepting(), excepting('Adviser'))).toEqual([]);
  });
});

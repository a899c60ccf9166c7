import { expect, it } from 'vitest';
import type { Config } from '../../../../src/config/load-config.js';
import { configSchema } from '../../../../src/config/schema.js';
import {
  type AssessmentSettings,
  compareAssessment,
  digestAssessment,
  keepRosters,
  toAssessmentSettings,
} from '../../../../src/runs/settings-acceptance.js';

const settings = (given: object = {}): Config['settings'] => ({
  ...configSchema.parse(given),
  organisation: 'default',
});
const assessing = (given: object = {}): AssessmentSettings => toAssessmentSettings(settings(given));
const compare = (before: object, after: object): readonly string[] =>
  compareAssessment(assessing(before), assessing(after));
const roster = (name: string, guards: object = {}): object => ({ name, csv: { path: `${name}.csv` }, guards });
const control = (name: string): object => ({ type: 'person', name, expect: 'match' });

it('what judges is named with both values', () => {
  expect(
    compare(
      { rosters: [roster('retail')] },
      {
        service: { aml: { nameField: 'full_name' } },
        changes: { scoreStep: 0.05, severities: { pep_hit_gained: 'high' } },
        screening: { controlsEvery: 500 },
        rosters: [roster('retail', { maxShrinkNight: 0.2 })],
      },
    ),
  ).toEqual([
    'changes.scoreStep was 0.02 and is 0.05',
    'changes.severities.pep_hit_gained was not set and is high',
    'rosters[0].guards.maxShrinkNight was 0.01 and is 0.2',
    'screening.controlsEvery was 10000 and is 500',
    'service.aml.nameField was name and is full_name',
  ]);
});

it('a missing setting and its default are stored alike, so that the database finds no difference either', () => {
  const plain = settings({ rosters: [roster('retail')] });
  const { guards, ...unguarded } = plain.rosters[0] ?? expect.unreachable('there is no roster');
  const { aml, ...service } = plain.service;
  expect(toAssessmentSettings({ ...plain, service, rosters: [unguarded] })).toEqual(
    toAssessmentSettings({ ...plain, service: { ...service, aml }, rosters: [{ ...unguarded, guards }] }),
  );
  expect(assessing({ rosters: [roster('retail', { maxShrinkNight: 0.01 })] })).toEqual(toAssessmentSettings(plain));
});

it('lists are told by their length, never by the names in them', () => {
  expect(compare({ controls: [control('Somebody Listed')] }, { controls: [] })).toEqual([
    'controls was a list of 1 and is a list of 0',
  ]);
  expect(compare({ controls: [control('Somebody Listed')] }, { controls: [control('Another')] })).toEqual([
    'controls was a list of 1 and is a different list of 1',
  ]);
});

it('mail, reports, rates, paths, budgets, schedules and calendars judge nothing', () => {
  const beside = {
    service: { rate: { perSecond: 3 }, baseUrl: 'https://service.example/v1', mode: 'test' },
    reports: { dir: '/elsewhere' },
    database: { folder: '/elsewhere' },
    budget: { maxSearchesPerDay: 10 },
    run: { deadline: '1h' },
    review: { holidays: ['2026-12-24'] },
    jobs: { rescreen: '0 3 * * *' },
  };
  expect(compare({}, beside)).toEqual([]);
});

it('a new roster, and a setting that is not stored, judge as by default', () => {
  expect(compare({}, { rosters: [roster('retail')] })).toEqual([]);
  const { changes: _, ...older } = assessing();
  expect(compareAssessment(older, assessing())).toEqual([]);
  expect(compareAssessment(older, assessing({ changes: { scoreStep: 0.1 } }))).toEqual([
    'changes.scoreStep was 0.02 and is 0.1',
  ]);
});

it('an accepted setting that this version does not know is a difference', () => {
  expect(compareAssessment({ ...assessing(), matching: { depth: 3 } }, assessing())).toEqual([
    'matching.depth was 3 and is not set',
  ]);
});

it('guards are compared for the rosters that are run, and those of others are kept as they were accepted', () => {
  const accepted = assessing({ rosters: [roster('retail', { maxGrowth: 2 }), roster('staff', { maxGrowth: 3 })] });
  const now = assessing({ rosters: [roster('staff', { maxGrowth: 4 })] });
  expect(compareAssessment(accepted, now, ['retail'], ['staff'])).toEqual([
    'rosters[1].guards.maxGrowth was 2 and is 0.5',
  ]);
  expect(compareAssessment(accepted, now)).toEqual(['rosters[0].guards.maxGrowth was 3 and is 4']);
  expect(compareAssessment(accepted, now, ['given'])).toEqual([]);
  const kept = keepRosters(accepted, now);
  expect(compareAssessment(kept, accepted, ['retail'])).toEqual([]);
  expect(compareAssessment(kept, now)).toEqual([]);
});

it('what a roster excepts is judged, and a further source of parties is not', () => {
  const people = (columns: object, parties: readonly object[] = []): object => ({
    rosters: [{ name: 'people', csv: { path: 'people.csv' }, columns, parties }],
  });
  const holders = (csv: object, columns: object) => ({ csv: { path: 'holders.csv', ...csv }, columns });
  expect(compare(people({}), people({ id: 'number' }, [holders({}, {})]))).toEqual([]);
  const excepted = { realNames: ['Cl?mence'], realDates: ['2026-03-31'], ignore: ['Adviser'] };
  expect(compare(people({}), people(excepted, [holders({}, { ignore: ['Agent'] })]))).toEqual([
    'rosters[0].columns.ignore was a list of 0 and is a list of 1',
    'rosters[0].columns.realDates was a list of 0 and is a list of 1',
    'rosters[0].columns.realNames was a list of 0 and is a list of 1',
    'rosters[0].parties.columns.ignore was a list of 0 and is a list of 1',
  ]);
});

it('the digest does not depend on the order of keys', () => {
  const { service, ...others } = assessing();
  expect(digestAssessment({ ...others, service })).toBe(digestAssessment(assessing()));
});

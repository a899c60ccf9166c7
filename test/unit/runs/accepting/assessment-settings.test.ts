import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { applyOverride, type Config } from '../../../../src/config/load-config.js';
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
  compareAssessment(assessing(before), assessing(after)).differences;
const roster = (name: string, guards: object = {}): object => ({ name, csv: { path: `${name}.csv` }, guards });
const nothing = { differences: [], retired: [] };
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

it('a new roster, and a setting that an older version did not know, judge as by default', () => {
  expect(compare({}, { rosters: [roster('retail')] })).toEqual([]);
  const { changes: _, ...older } = assessing();
  expect(compareAssessment(older, assessing())).toEqual(nothing);
  expect(compareAssessment(older, assessing({ changes: { scoreStep: 0.1 } })).differences).toEqual([
    'changes.scoreStep was 0.02 and is 0.1',
  ]);
});

it('what an older version knew and this one does not is told, and is nobody’s change', () => {
  const older = {
    ...assessing(),
    matching: { depth: 3 },
    changes: {
      scoreStep: 4,
      oldStep: 0.05,
      severities: { hit_of_old: 'high', hit_lost: 'low' },
    },
    controls: [{ ...control('Somebody Listed'), script: 'latin' }, control('Another')],
  };
  const controls = [control('Somebody Listed'), control('Another')];
  const inForce = { controls, changes: { severities: { hit_lost: 'low' } } };
  const retired = [
    'changes.oldStep was 0.05 and is not set',
    'changes.scoreStep was 4 and is 0.02',
    'changes.severities.hit_of_old was high and is not set',
    'controls was a list of 2 and is a different list of 2',
    'matching.depth was 3 and is not set',
  ];
  expect(compareAssessment(older, assessing(inForce))).toEqual({
    differences: [],
    retired: retired.map((words) => `${words} (unknown to this version)`),
  });
  // A person has put another value in its place, and another control search.
  const chosen = { controls: [control('Somebody Else'), control('Another')], changes: { scoreStep: 0.5 } };
  expect(compareAssessment(older, assessing(chosen)).differences).toEqual([
    'changes.scoreStep was 4 and is 0.5',
    'changes.severities.hit_lost was low and is not set',
    'controls was a list of 2 and is a different list of 2',
  ]);
});

it('guards are compared for the rosters that are run, and those of others are kept as they were accepted', () => {
  const accepted = assessing({ rosters: [roster('retail', { maxGrowth: 2 }), roster('staff', { maxGrowth: 3 })] });
  const now = assessing({ rosters: [roster('staff', { maxGrowth: 4 })] });
  expect(compareAssessment(accepted, now, ['retail'], ['staff']).differences).toEqual([
    'rosters[1].guards.maxGrowth was 2 and is 0.5',
  ]);
  expect(compareAssessment(accepted, now).differences).toEqual(['rosters[0].guards.maxGrowth was 3 and is 4']);
  expect(compareAssessment(accepted, now, ['given'])).toEqual(nothing);
  const kept = keepRosters(accepted, now);
  expect(compareAssessment(kept, accepted, ['retail'])).toEqual(nothing);
  expect(compareAssessment(kept, now)).toEqual(nothing);
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

/** What a person can change. */
const choices = [
  ['controls', [control('Somebody Listed')]],
  ['changes.severities.hit_lost', 'info'],
  ['changes.topics.pep', ['role']],
  ['guards.retail.columns', false],
  ['review.expiresAfterDays.high', 30],
  ['screening.cadence.high', '12h'],
  ['service.aml.nameField', 'full_name'],
] as const;
const groups = ['', 'changes.', 'changes.topics.', 'changes.severities.', 'screening.', 'review.', 'guards.retail.'];
const leftBehind = fc.tuple(
  fc.constantFrom(...groups),
  fc.constantFrom('formerly', 'renamed', 'retired'),
  fc.jsonValue({ maxDepth: 2 }),
);
const put = (given: unknown, path: string, value: unknown): unknown =>
  applyOverride(given, { path: path.split('.'), value, origin: '' });
const toAssessment = z.record(z.string(), z.unknown());

it('whatever a former version has left behind, what a person has changed is named and nothing else is', () => {
  const base = assessing({ rosters: [roster('retail')] });
  fc.assert(
    fc.property(fc.subarray([...choices]), fc.array(leftBehind, { maxLength: 5 }), (chosen, left) => {
      const stored = left.reduce<unknown>((given, [group, key, value]) => put(given, `${group}${key}`, value), base);
      const now = chosen.reduce<unknown>((given, [path, value]) => put(given, path, value), base);
      const { differences } = compareAssessment(toAssessment.parse(stored), toAssessment.parse(now));
      const written = chosen.map(([path]) =>
        path.replace(/^guards\.retail/, 'rosters[0].guards').replace(/^controls/, 'controls'),
      );
      expect(differences.map((words) => words.split(' was ')[0])).toEqual(written.toSorted());
    }),
    { numRuns: 60 },
  );
});

it('the digest does not depend on the order of keys', () => {
  const { service, ...others } = assessing();
  expect(digestAssessment({ ...others, service })).toBe(digestAssessment(assessing()));
});

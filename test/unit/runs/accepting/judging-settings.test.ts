import { expect, it } from 'vitest';
import { configSchema, type Settings } from '../../../../src/config/schema.js';
import {
  digestJudging,
  nameJudgingChanges,
  toJudgingSettings,
} from '../../../../src/runs/accepting/judging-settings.js';

const settings = (given: object = {}): Settings => configSchema.parse(given);
const compare = (before: object, after: object): readonly string[] =>
  nameJudgingChanges(toJudgingSettings(settings(before)), toJudgingSettings(settings(after)));
const roster = (name: string, guards: object = {}): object => ({ name, csv: { path: `${name}.csv` }, guards });
const canary = (name: string): object => ({ type: 'person', name, expect: 'match' });

it('what judges is named with both values', () => {
  expect(
    compare(
      { rosters: [roster('retail')] },
      {
        service: { aml: { nameField: 'full_name' } },
        changes: { scoreStep: 0.05, severities: { pep_hit_gained: 'high' } },
        screening: { canariesEvery: 500 },
        rosters: [roster('retail', { maxShrinkNight: 0.2 })],
      },
    ),
  ).toEqual([
    'changes.scoreStep was 0.02 and is 0.05',
    'changes.severities.pep_hit_gained was not set and is high',
    'guards.retail.maxShrinkNight was 0.01 and is 0.2',
    'screening.canariesEvery was 10000 and is 500',
    'service.aml.nameField was name and is full_name',
  ]);
});

it('lists are told by their length, never by the names in them', () => {
  expect(compare({ canaries: [canary('Somebody Listed')] }, { canaries: [] })).toEqual([
    'canaries was a list of 1 and is a list of 0',
  ]);
  expect(compare({ canaries: [canary('Somebody Listed')] }, { canaries: [canary('Another')] })).toEqual([
    'canaries was a list of 1 and is another one of 1',
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
    jobs: { rescreen: { cron: '0 3 * * *', timezone: 'UTC' } },
  };
  expect(compare({}, beside)).toEqual([]);
});

it('a new roster, and a setting that an older version did not know, judge as by default', () => {
  expect(compare({}, { rosters: [roster('retail')] })).toEqual([]);
  const { changes: _, ...older } = toJudgingSettings(settings());
  expect(nameJudgingChanges(older, toJudgingSettings(settings()))).toEqual([]);
  expect(nameJudgingChanges(older, toJudgingSettings(settings({ changes: { scoreStep: 0.1 } })))).toEqual([
    'changes.scoreStep was 0.02 and is 0.1',
  ]);
});

it('the digest does not depend on the order of keys', () => {
  const { service, ...others } = toJudgingSettings(settings());
  expect(digestJudging({ ...others, service })).toBe(digestJudging(toJudgingSettings(settings())));
});

import { createHash } from 'node:crypto';
import { changeSettingsSchema } from '../../changes/settings.js';
import { serviceSettingsSchema } from '../../client/settings.js';
import { guardsSchema } from '../../roster/guards/settings.js';
import { screeningSettingsSchema } from '../../screening/settings.js';
import { reviewSettingsSchema } from '../reviewing/settings.js';
import { nameChangedSettings } from '../session/name-changed-settings.js';
import type { RunSettings } from '../workplace.js';
import { toCanonicalJson } from './canonical-json.js';

/** Settings that judge, as JSON: by section, the guards by the name of their roster. */
export type JudgingSettings = Readonly<Record<string, unknown>>;

/** When reviewers work says when something is due, and judges nothing. */
const calendar: ReadonlySet<string> = new Set(['timezone', 'workdays', 'holidays']);

/**
 * The settings that judge: what is asked, what counts as a change and how much it matters, whom a run answers for and when anew, what the
 * control searches expect, which rosters are held, and how long a decision holds. This is the list: mail, reports, rates, paths, budget,
 * schedules and the reviewers' calendar are not in it.
 */
export function toJudgingSettings(
  settings: Pick<RunSettings, 'service' | 'changes' | 'canaries' | 'screening' | 'review' | 'rosters'>,
): JudgingSettings {
  const { service, changes, canaries, screening, review, rosters } = settings;
  return toJson({
    service: { aml: service.aml ?? {} },
    changes,
    canaries,
    screening,
    review: Object.fromEntries(Object.entries(review).filter(([key]) => !calendar.has(key))),
    guards: Object.fromEntries(rosters.map(({ name, guards }) => [name, guards ?? {}])),
  });
}

/** SHA-256 (hex) of settings that judge, whatever the order of their keys. */
export const digestJudging = (settings: JudgingSettings): string =>
  createHash('sha256').update(toCanonicalJson(settings)).digest('hex');

/**
 * Names each setting that judges and is not as it was, with both values; lists by their length only. What either side does not say has its
 * default, so that a new roster or a new version of Nightscreen changes nothing by itself.
 */
export function nameJudgingChanges(before: JudgingSettings, after: JudgingSettings): readonly string[] {
  const rosters = [before, after].flatMap((settings) => Object.keys(toRecord(settings['guards'])));
  const fill = (settings: JudgingSettings): JudgingSettings => fillIn(toDefaults(rosters), settings);
  return nameChangedSettings(fill(before), fill(after)).map(({ words }) => words);
}

function toDefaults(rosters: readonly string[]): JudgingSettings {
  return toJson({
    service: { aml: serviceSettingsSchema.parse({}).aml },
    changes: changeSettingsSchema.parse({}),
    canaries: [],
    screening: screeningSettingsSchema.parse({}),
    review: toJudgingReview(),
    guards: Object.fromEntries(rosters.map((name) => [name, guardsSchema.parse({})])),
  });
}

const toJudgingReview = (): Record<string, unknown> =>
  Object.fromEntries(Object.entries(reviewSettingsSchema.parse({})).filter(([key]) => !calendar.has(key)));

function fillIn(defaults: JudgingSettings, given: JudgingSettings): JudgingSettings {
  const keys = new Set([...Object.keys(defaults), ...Object.keys(given)]);
  return Object.fromEntries(
    [...keys].map((key) => {
      const [usual, said] = [defaults[key], given[key]];
      if (said === undefined) return [key, usual];
      return [key, isRecord(usual) && isRecord(said) ? fillIn(usual, said) : said];
    }),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

/** As it comes back from the database: without what is undefined. */
const toJson = (value: unknown): JudgingSettings => toRecord(JSON.parse(JSON.stringify(value)));

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { changeSettingsSchema } from '../../changes/settings.js';
import { serviceSettingsSchema } from '../../client/settings.js';
import { canarySchema } from '../../matches/canary.js';
import { guardsSchema } from '../../roster/guards/settings.js';
import { screeningSettingsSchema } from '../../screening/settings.js';
import { reviewSettingsSchema } from '../reviewing/settings.js';
import { nameChangedSettings } from '../session/name-changed-settings.js';
import type { RunSettings } from '../workplace.js';
import { toCanonicalJson } from './canonical-json.js';

/** Settings that judge, as JSON: by section, the guards by the name of their roster. */
export type JudgingSettings = Readonly<Record<string, unknown>>;

/** When reviewers work says when something is due, and judges nothing. */
const reviewSchema = reviewSettingsSchema.omit({ timezone: true, workdays: true, holidays: true });

const judgingSchema = z
  .strictObject({
    service: z.strictObject({ aml: serviceSettingsSchema.shape.aml }).prefault({}),
    changes: changeSettingsSchema.prefault({}),
    canaries: z.array(canarySchema).default([]),
    screening: screeningSettingsSchema.prefault({}),
    review: reviewSchema.prefault({}),
    guards: z.record(z.string(), guardsSchema).default({}),
  })
  .prefault({});

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
    review: Object.fromEntries(Object.entries(review).filter(([key]) => key in reviewSchema.shape)),
    guards: Object.fromEntries(rosters.map(({ name, guards }) => [name, guards ?? {}])),
  });
}

/** SHA-256 (hex) of settings that judge, whatever the order of their keys. */
export const digestJudging = (settings: JudgingSettings): string =>
  createHash('sha256').update(toCanonicalJson(settings)).digest('hex');

/** With the guards of rosters that are not configured here as they were accepted: they are another host's, or may come back. */
export const keepGuards = (accepted: JudgingSettings, now: JudgingSettings): JudgingSettings => ({
  ...now,
  guards: { ...toRecord(accepted['guards']), ...toRecord(now['guards']) },
});

/** How the settings in force differ from those that were accepted; each setting in words with both values, lists by their length only. */
export interface JudgingComparison {
  /** What somebody has changed. */
  differences: readonly string[];
  /** What was accepted and is unknown to this version of Nightscreen: nobody can go by it any more, and nobody has changed it. */
  retired: readonly string[];
}

/**
 * Compares settings that were accepted, read as this version of Nightscreen understands them, with those in force: the guards of these rosters
 * only. What either side does not say has its default, so that a new roster or a new version changes nothing by itself.
 */
export function compareJudging(
  accepted: JudgingSettings,
  now: JudgingSettings,
  rosters: readonly string[] = Object.keys(toRecord(now['guards'])),
): JudgingComparison {
  const choose = (settings: JudgingSettings): JudgingSettings => {
    const guards = toRecord(settings['guards']);
    return { ...settings, guards: Object.fromEntries(rosters.map((name) => [name, guards[name] ?? {}])) };
  };
  const stored = choose(accepted);
  const known = toRecord(keepKnown(judgingSchema, stored));
  const read = fillIn(choose(known));
  const inForce = fillIn(choose(now));
  const changed = nameChangedSettings(read, inForce);
  const unknown = new Set(nameChangedSettings(stored, known).map(({ path }) => path));
  const unread = nameChangedSettings(stored, inForce).filter(({ path }) => unknown.has(path));
  const findSame = (named: typeof changed, path: string) => named.find((each) => each.path === path);
  return {
    // In the value that was accepted, also where it is not understood any more.
    differences: changed.map((each) => (findSame(unread, each.path) ?? each).words),
    retired: unread
      .filter(({ path }) => !findSame(changed, path))
      .map(({ words }) => `${words} (unknown to this version)`),
  };
}

/** With the default of all that is not said. */
const fillIn = (settings: JudgingSettings): JudgingSettings => toJson(judgingSchema.parse(settings));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

/** As it comes back from the database: without what is undefined. */
const toJson = (value: unknown): JudgingSettings => toRecord(JSON.parse(JSON.stringify(value)));

/**
 * What a schema still knows of a value that was stored under an older one: as little as possible of what it refuses is left out; undefined
 * where nothing is left.
 */
export function keepKnown(schema: z.ZodType, stored: unknown): unknown {
  let kept = stored;
  for (;;) {
    const issue = schema.safeParse(kept).error?.issues[0];
    if (issue === undefined || kept === undefined) return kept;
    kept = leaveOut(kept, issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path);
  }
}

/** The value without what stands at a path; undefined where nothing stands there, because it misses what it must have. */
function leaveOut(value: unknown, path: readonly PropertyKey[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== 'object' || value === null) return undefined;
  const inner: unknown = Reflect.get(value, key);
  if (inner === undefined) return undefined;
  const left = leaveOut(inner, rest);
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [
    name,
    name === String(key) ? left : each,
  ]);
  const kept = entries.filter(([, each]) => each !== undefined);
  return Array.isArray(value) ? kept.map(([, each]) => each) : Object.fromEntries(kept);
}

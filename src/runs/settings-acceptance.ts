import { createHash } from 'node:crypto';
import { z } from 'zod';
import { changeSettingsSchema } from '../changes/severity.js';
import { serviceSettingsSchema } from '../client/settings.js';
import { ConfigError, flagError } from '../errors.js';
import { canarySchema } from '../matches/canary.js';
import { guardsSchema } from '../roster/guards.js';
import { screeningSettingsSchema } from '../screening/settings.js';
import type { Database, Queryable } from '../store/database/database.js';
import {
  holdOrganisation,
  proposeSettings,
  readAcceptedSettings,
  readSettingsHistory,
  type SettingsRecord,
  saveSettingsRecord,
} from '../store/organisations.js';
import type { AppContext, RunSettings } from './app-context.js';
import { findReviewer } from './review/people.js';
import { reviewSettingsSchema } from './review/settings.js';
import type { RosterScope } from './roster-scope.js';
import { openOrganisation } from './session.js';
import { type Acceptance, nameChangedSettings, requireLogins, toCanonicalJson } from './settings-diff.js';

/** Settings that judge, as JSON: by section, the guards by the name of their roster. */
export type AssessmentSettings = Readonly<Record<string, unknown>>;

/** When reviewers work says when something is due, and judges nothing. */
const reviewSchema = reviewSettingsSchema.omit({ timezone: true, workdays: true, holidays: true });

const assessmentSchema = z
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
export function toAssessmentSettings(
  settings: Pick<RunSettings, 'service' | 'changes' | 'canaries' | 'screening' | 'review' | 'rosters'>,
): AssessmentSettings {
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
export const digestAssessment = (settings: AssessmentSettings): string =>
  createHash('sha256').update(toCanonicalJson(settings)).digest('hex');

/** With the guards of rosters that are not configured here as they were accepted: they are another host's, or may come back. */
export const keepGuards = (accepted: AssessmentSettings, now: AssessmentSettings): AssessmentSettings => ({
  ...now,
  guards: { ...toRecord(accepted['guards']), ...toRecord(now['guards']) },
});

/** How the settings in force differ from those that were accepted; each setting in words with both values, lists by their length only. */
interface AssessmentComparison {
  /** What somebody has changed. */
  differences: readonly string[];
  /** What was accepted and is unknown to this version of Nightscreen: nobody can go by it any more, and nobody has changed it. */
  retired: readonly string[];
}

/**
 * Compares settings that were accepted, read as this version of Nightscreen understands them, with those in force: the guards of these rosters
 * only. What either side does not say has its default, so that a new roster or a new version changes nothing by itself.
 */
export function compareAssessment(
  accepted: AssessmentSettings,
  now: AssessmentSettings,
  rosters: readonly string[] = Object.keys(toRecord(now['guards'])),
): AssessmentComparison {
  const choose = (settings: AssessmentSettings): AssessmentSettings => {
    const guards = toRecord(settings['guards']);
    return { ...settings, guards: Object.fromEntries(rosters.map((name) => [name, guards[name] ?? {}])) };
  };
  const stored = choose(accepted);
  const known = toRecord(keepKnown(assessmentSchema, stored));
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

/** Compares what judges of two settings that may be in force. */
export const compareSettings = (
  present: Parameters<typeof toAssessmentSettings>[0],
  other: Parameters<typeof toAssessmentSettings>[0],
): AssessmentComparison => compareAssessment(toAssessmentSettings(present), toAssessmentSettings(other));

/** With the default of all that is not said. */
const fillIn = (settings: AssessmentSettings): AssessmentSettings => toJson(assessmentSchema.parse(settings));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

/** As it comes back from the database: without what is undefined. */
const toJson = (value: unknown): AssessmentSettings => toRecord(JSON.parse(JSON.stringify(value)));

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

/** What to type so that settings that were changed hold. */
export const acceptCommand = 'nightscreen config accept --by NAME --reason TEXT';

/**
 * Gives the number of the record of the settings in force; the first run of an organisation records its own. Throws ConfigError, which names
 * each difference with both values and what to type, when settings that judge this roster are not as they were accepted. What was accepted and
 * is unknown to this version hinders nothing and is reported.
 */
export async function requireAcceptedSettings(
  app: AppContext,
  { organisation: { organisationId }, roster }: Pick<RosterScope, 'organisation' | 'roster'>,
): Promise<number> {
  const { database, clock, settings } = app;
  const now = toAssessmentSettings(settings);
  const requireSame = (accepted: SettingsRecord): number => {
    const { differences, retired } = compareAssessment(accepted.settings, now, [roster]);
    if (differences.length > 0) throw refuse(accepted, [...differences, ...retired]);
    if (retired.length > 0) {
      const message = `${describeRetired(accepted, retired)}. To record that: ${acceptCommand}`;
      app.emit({ kind: 'warning', runId: null, code: 'settings_retired', message });
    }
    return accepted.recordId;
  };
  const accepted = await readAcceptedSettings(database, organisationId);
  if (accepted !== null) return requireSame(accepted);
  // What closes alerts without a person is accepted by a named one, also before the first run.
  if (settings.review.autoClose) {
    const message = `closes alerts without a person, and no one has accepted it. Nothing was searched and nothing was changed. Accept it: ${acceptCommand}`;
    throw new ConfigError([{ where: 'settings', path: 'review.autoClose', message }]);
  }
  return database.transaction(async (transaction) => {
    await holdOrganisation(transaction, organisationId);
    const sooner = await readAcceptedSettings(transaction, organisationId);
    if (sooner !== null) return requireSame(sooner);
    return saveSettingsRecord(transaction, organisationId, {
      settings: now,
      digest: digestAssessment(now),
      differences: [],
      acceptedBy: 'first settings',
      isAttested: true,
      reason: 'recorded by the first run',
      acceptedAt: clock.now(),
    });
  });
}

/** When settings were accepted, and by whom. */
export const describeSince = ({ acceptedAt, acceptedBy }: SettingsRecord): string =>
  `accepted on ${acceptedAt.toISOString()} (${acceptedBy})`;

/** Says what runs do without, because their version does not know it any more. */
export const describeRetired = (accepted: SettingsRecord, retired: readonly string[]): string =>
  `runs go without some of the settings that were ${describeSince(accepted)}: ${retired.join('; ')}`;

function refuse(accepted: SettingsRecord, differences: readonly string[]): ConfigError {
  const message =
    `those that judge are not as they were ${describeSince(accepted)}: ${differences.join('; ')}. Nothing was asked and nothing was changed. ` +
    `Set them back, or accept them: ${acceptCommand}`;
  return new ConfigError([{ where: 'settings', path: '', message }]);
}

/** What of the settings that judge is not as it was accepted; `accepted` is null while none are recorded. */
export async function findUnacceptedSettings(
  database: Queryable,
  settings: Pick<RunSettings, 'organisation'> & Parameters<typeof toAssessmentSettings>[0],
): Promise<AssessmentComparison & { accepted: SettingsRecord | null }> {
  const accepted = (await readSettingsHistory(database, settings.organisation)).at(-1) ?? null;
  if (accepted === null) return { accepted, differences: [], retired: [] };
  return { accepted, ...compareAssessment(accepted.settings, toAssessmentSettings(settings)) };
}

/** Whether settings switch on that alerts are closed by a policy, which takes two people wherever four eyes are set. */
const needsTwo = ({ review }: Pick<RunSettings, 'review'>, accepted: SettingsRecord | null): boolean =>
  review.autoClose && review.fourEyes.length > 0 && !isAutoClosing(accepted);

const autoClosing = z.object({ review: z.object({ autoClose: z.literal(true) }) });

/** Whether accepted settings close alerts by policy. */
export const isAutoClosing = (accepted: Pick<SettingsRecord, 'settings'> | null): boolean =>
  accepted !== null && autoClosing.safeParse(accepted.settings).success;

/**
 * Records the settings in force as accepted and gives what differs from those before, in words; an empty list, with nothing recorded, when
 * there is nothing to accept. Before the first run they are recorded whole. `isProposed`: another person has to accept the same.
 */
export async function acceptSettings(
  app: AppContext,
  { by, reason }: Acceptance,
): Promise<{ recorded: boolean; isProposed: boolean; differences: readonly string[] }> {
  const { database, clock, settings } = app;
  const { organisationId } = await openOrganisation(app);
  return database.transaction(async (transaction) => {
    await holdOrganisation(transaction, organisationId);
    const accepted = await readAcceptedSettings(transaction, organisationId);
    const now = toAssessmentSettings(settings);
    const { differences, retired } = compareAssessment(accepted?.settings ?? now, now);
    const named = [...differences, ...retired];
    if (accepted !== null && named.length === 0) return { recorded: false, isProposed: false, differences: named };
    const kept = keepGuards(accepted?.settings ?? {}, now);
    const digest = digestAssessment(kept);
    const acceptance = { digest, acceptedBy: by.name, isAttested: by.isAttested, reason, acceptedAt: clock.now() };
    let proposedBy: string | null = null;
    if (needsTwo(settings, accepted)) {
      requireLogins(database, 'accepting review.autoClose');
      proposedBy = await proposeSettings(transaction, organisationId, acceptance);
      if (proposedBy === null) return { recorded: false, isProposed: true, differences: named };
    }
    await saveSettingsRecord(transaction, organisationId, {
      ...acceptance,
      settings: kept,
      differences: named,
      proposedBy,
    });
    return { recorded: true, isProposed: false, differences: named };
  });
}

/** Who accepts and why, as the flags say; on Postgres the login says who. Throws ConfigError naming the flag that is missing. */
export async function findAcceptance(
  database: Database,
  { by, reason = '' }: { by?: string | undefined; reason?: string | undefined },
): Promise<Acceptance> {
  if (reason.trim() === '') {
    const message = 'is missing: what is accepted is kept with who accepted it and why';
    throw flagError('--reason', message);
  }
  return { by: await findReviewer(database, by, false, '--by'), reason: reason.trim() };
}

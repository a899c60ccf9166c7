import { createHash } from 'node:crypto';
import { z } from 'zod';
import { changeSettingsSchema } from '../changes/severity.js';
import { serviceSettingsSchema } from '../client/settings.js';
import { ConfigError, flagError, usageError } from '../errors.js';
import { controlSchema } from '../matches/control.js';
import { guardsSchema } from '../roster/guards.js';
import type { RosterSettings } from '../roster/settings.js';
import { screeningSettingsSchema, toScreeningPolicy } from '../screening/settings.js';
import type { Database, Queryable } from '../store/database/database.js';
import {
  findOrganisation,
  findSettingsOfTwo,
  proposeSettings,
  readAcceptedSettings,
  readProposers,
  readSettingsHistory,
  type SettingsRecord,
  saveSettingsRecord,
} from '../store/organisations.js';
import { isOnTrial } from '../store/runs.js';
import { toImportMode } from './account.js';
import type { AppContext, RunSettings } from './app-context.js';
import { findReviewer } from './review/people.js';
import { isAutoClosing, reviewSettingsSchema } from './review/settings.js';
import type { RosterScope } from './roster-scope.js';
import { openOrganisation } from './session.js';
import { type Acceptance, nameChangedSettings, requireLogins, toCanonicalJson, toRecord } from './settings-diff.js';

/** The assessment settings as JSON by section; the guards and the exceptions of rosters by the name of their roster. */
export type AssessmentSettings = Readonly<Record<string, unknown>>;

/** The reviewers' calendar sets only due times, so it is left out. */
const reviewSchema = reviewSettingsSchema.omit({ workdays: true, holidays: true });

const texts = z.array(z.string()).default([]);

/** Names, dates, columns and rows of a source that are no doubt and are not searched because a person says so. */
const ignoredSchema = z.strictObject({ columns: z.strictObject({ ignore: texts }).prefault({}) });
const exceptionsSchema = z.strictObject({
  columns: z.strictObject({ realNames: texts, realDates: texts, ignore: texts }).prefault({}),
  csv: z.strictObject({ skipRows: texts }).prefault({}),
});

const assessmentSchema = z
  .strictObject({
    service: z.strictObject({ aml: serviceSettingsSchema.shape.aml }).prefault({}),
    changes: changeSettingsSchema.prefault({}),
    controls: z.array(controlSchema).default([]),
    screening: screeningSettingsSchema.prefault({}),
    review: reviewSchema.prefault({}),
    guards: z.record(z.string(), guardsSchema).default({}),
    rosters: z.record(z.string(), exceptionsSchema.extend({ parties: ignoredSchema.prefault({}) })).default({}),
  })
  .prefault({});

/**
 * The settings that decide results: the search, changes and their severity, who is screened and when, control searches, guards, whom a
 * roster excepts, and how long a disposition holds, all with their defaults, so that the database compares the same values as this program.
 * Mail, reports, rates, paths, budget, schedules and the reviewers' calendar are not among them.
 */
export function toAssessmentSettings(
  settings: Pick<RunSettings, 'service' | 'changes' | 'controls' | 'screening' | 'review' | 'rosters'>,
): AssessmentSettings {
  const { service, changes, controls, screening, review, rosters } = settings;
  return fillIn({
    service: { aml: service.aml ?? {} },
    changes,
    controls,
    screening: toScreeningPolicy(screening),
    review: Object.fromEntries(Object.entries(review).filter(([key]) => key in reviewSchema.shape)),
    guards: Object.fromEntries(rosters.map(({ name, guards }) => [name, guards ?? {}])),
    rosters: Object.fromEntries(
      rosters.map((roster) => [
        roster.name,
        { ...toExceptions(roster), parties: { columns: { ignore: roster.parties.flatMap(listIgnored) } } },
      ]),
    ),
  });
}

const listIgnored = ({ columns }: { columns: { ignore?: readonly string[] | undefined } }): readonly string[] =>
  columns.ignore ?? [];

/** What a roster excepts, for its sources of parties too. */
const toExceptions = ({ columns, csv }: RosterSettings) => ({
  columns: {
    realNames: columns.realNames ?? [],
    realDates: columns.realDates ?? [],
    ignore: columns.ignore ?? [],
  },
  csv: { skipRows: csv?.skipRows ?? [] },
});

/** The SHA-256 (hex) of assessment settings, independent of the order of keys. */
export const digestAssessment = (settings: AssessmentSettings): string =>
  createHash('sha256').update(toCanonicalJson(settings)).digest('hex');

/** The sections that hold settings by the name of a roster. */
const byRoster = ['guards', 'rosters'] as const;

/** Adds what is accepted of rosters that are not configured here: they belong to another host, or may return. */
export const keepRosters = (accepted: AssessmentSettings, now: AssessmentSettings): AssessmentSettings => ({
  ...now,
  ...Object.fromEntries(
    byRoster.map((section) => [section, { ...toRecord(accepted[section]), ...toRecord(now[section]) }]),
  ),
});

/**
 * The differences between accepted settings and those in force, of these rosters, with both values; lists by their length only. Missing settings
 * have their defaults, so that a new roster is no change.
 */
export function compareAssessment(
  accepted: AssessmentSettings,
  now: AssessmentSettings,
  rosters: readonly string[] = Object.keys(toRecord(now['guards'])),
  /** The rosters in the order of the configuration. */
  configured: readonly string[] = rosters,
): readonly string[] {
  const choose = (settings: AssessmentSettings): AssessmentSettings => {
    const chosen = byRoster.map((section): [string, unknown] => {
      const all = toRecord(settings[section]);
      return [section, Object.fromEntries(rosters.map((name) => [name, all[name] ?? {}]))];
    });
    return { ...settings, ...Object.fromEntries(chosen) };
  };
  const read = (settings: AssessmentSettings) => asWritten(fillIn(choose(settings)), configured);
  return nameChangedSettings(read(accepted), read(now)).map(({ words }) => words);
}

/** Compares the assessment settings of two configurations. */
export const compareSettings = (
  present: Parameters<typeof toAssessmentSettings>[0],
  other: Parameters<typeof toAssessmentSettings>[0],
): readonly string[] => compareWith(toAssessmentSettings(present), other);

const compareWith = (
  accepted: AssessmentSettings,
  settings: Parameters<typeof toAssessmentSettings>[0],
  roster?: string,
): readonly string[] => {
  const configured = settings.rosters.map(({ name }) => name);
  const rosters = roster === undefined ? configured : [roster];
  return compareAssessment(accepted, toAssessmentSettings(settings), rosters, configured);
};

/** Settings by the paths at which they are written. */
function asWritten(settings: AssessmentSettings, configured: readonly string[]): AssessmentSettings {
  const { guards, rosters, ...rest } = settings;
  const exceptions = toRecord(rosters);
  const ofRosters = Object.entries(toRecord(guards)).map(([name, each]): [string, unknown] => {
    const place = configured.indexOf(name);
    return [`rosters[${place < 0 ? configured.length : place}]`, { guards: each, ...toRecord(exceptions[name]) }];
  });
  return { ...rest, ...Object.fromEntries(ofRosters) };
}

/** The settings with all defaults; as they are, where this version does not know all of them. */
function fillIn(settings: AssessmentSettings): AssessmentSettings {
  const read = assessmentSchema.safeParse(settings);
  return read.success ? toJson(read.data) : settings;
}

/** As the database returns it, without undefined values. */
const toJson = (value: unknown): AssessmentSettings => toRecord(JSON.parse(JSON.stringify(value)));

/** The command that accepts changed settings. */
export const acceptCommand = 'nightscreen config accept --by NAME --reason TEXT';

/**
 * Returns the record of the settings in force; the first run of an organisation stores one. Throws ConfigError with each difference and the
 * command to accept them when assessment settings of this roster differ from the accepted ones. In a trial they apply at once, with a record of
 * their own, except a policy that closes alerts.
 */
export async function requireAcceptedSettings(
  app: AppContext,
  { organisation: { organisationId, name: organisation }, roster }: Pick<RosterScope, 'organisation' | 'roster'>,
): Promise<number> {
  const { database, clock, settings } = app;
  const now = toAssessmentSettings(settings);
  const isTrial = await isOnTrial(database, organisation, toImportMode(app));
  const which = isTrial ? {} : { exceptReason: trialReason };
  const requireSame = async (accepted: SettingsRecord, reader: Queryable): Promise<number> => {
    const differences = compareWith(accepted.settings, settings, roster);
    if (differences.length > 0) {
      const ofTwo = await findSettingsOfTwo(reader, organisationId, keepRosters(accepted.settings, now));
      if (!isTrial || ofTwo.length > 0 || (settings.review.autoClose && !isAutoClosing(accepted))) {
        throw refuse(accepted, differences, ofTwo);
      }
      return applyOnTrial(app, organisationId, roster);
    }
    return accepted.recordId;
  };
  const accepted = await readAcceptedSettings(database, organisationId, which);
  if (accepted !== null) return requireSame(accepted, database);
  // Closing alerts without a person needs a named acceptance, also before the first run.
  if (settings.review.autoClose) {
    const message = `closes alerts without a person and is not accepted. No search was made and nothing was changed. Accept it: ${acceptCommand}`;
    throw new ConfigError([{ where: 'settings', path: 'review.autoClose', message }]);
  }
  return database.transaction(async (transaction) => {
    const sooner = await readAcceptedSettings(transaction, organisationId, { ...which, isLocked: true });
    if (sooner !== null) return requireSame(sooner, transaction);
    const first = { by: { name: 'first settings', isAttested: true }, reason: 'recorded by the first run' };
    return saveSettingsRecord(transaction, organisationId, toRecordedSettings(now, [], first, clock.now()));
  });
}

/** The reason of records that nobody accepted: they are in force for a test key only, and a live key does not see them. */
const trialReason = 'applied at once with a test key; a live key needs an acceptance';

/** Records changed settings without an acceptance; the next report names them. */
async function applyOnTrial(app: AppContext, organisationId: number, roster: string): Promise<number> {
  const { database, clock, settings } = app;
  const by = await findReviewer(database, database.dialect === 'embedded' ? 'test key' : undefined);
  return database.transaction(async (transaction) => {
    const before = await readAcceptedSettings(transaction, organisationId, { isLocked: true });
    const differences = compareWith(before?.settings ?? {}, settings, roster);
    // Another process has recorded the same meanwhile.
    if (before !== null && differences.length === 0) return before.recordId;
    const message = `changed settings apply at once, because the key is a test key: ${differences.join('; ')}. A live key needs an acceptance: ${acceptCommand}`;
    app.emit({ kind: 'warning', runId: null, code: 'settings_applied', message });
    const kept = keepRosters(before?.settings ?? {}, toAssessmentSettings(settings));
    const applied = toRecordedSettings(kept, differences, { by, reason: trialReason }, clock.now());
    return saveSettingsRecord(transaction, organisationId, applied);
  });
}

const toRecordedSettings = (
  settings: AssessmentSettings,
  differences: readonly string[],
  { by, reason }: Acceptance,
  acceptedAt: Date,
) => ({
  settings,
  digest: digestAssessment(settings),
  differences,
  acceptedBy: by.name,
  isAttested: by.isAttested,
  reason,
  acceptedAt,
});

/** When and by whom settings were accepted. */
export const describeSince = ({ acceptedAt, acceptedBy }: SettingsRecord): string =>
  `accepted on ${acceptedAt.toISOString()} (${acceptedBy})`;

function refuse(accepted: SettingsRecord, differences: readonly string[], ofTwo: readonly string[]): ConfigError {
  const who = ofTwo.length === 0 ? '' : `, which takes two people for ${ofTwo.join(', ')}`;
  const message =
    `the assessment settings differ from those ${describeSince(accepted)}: ${differences.join('; ')}. No search was made and nothing was changed. ` +
    `Set them back, or accept them${who}: ${acceptCommand}`;
  return usageError('settings', message);
}

/**
 * The differences from the settings that a person accepted, or that were the first; `accepted` is null while none are recorded. `waiting` names
 * who has accepted them where two people are needed.
 */
export async function findUnacceptedSettings(
  database: Queryable,
  settings: Pick<RunSettings, 'organisation'> & Parameters<typeof toAssessmentSettings>[0],
): Promise<{ accepted: SettingsRecord | null; differences: readonly string[]; waiting: readonly string[] }> {
  const history = await readSettingsHistory(database, settings.organisation);
  const accepted = history.findLast(({ reason }) => reason !== trialReason) ?? null;
  if (accepted === null) return { accepted, differences: [], waiting: [] };
  const organisation = await findOrganisation(database, settings.organisation);
  const kept = keepRosters(accepted.settings, toAssessmentSettings(settings));
  return {
    accepted,
    differences: compareWith(accepted.settings, settings),
    waiting: organisation === null ? [] : await readProposers(database, organisation.organisationId, kept),
  };
}

/** What became of an acceptance. */
export type AcceptedSettings = Awaited<ReturnType<typeof acceptSettings>>;

/**
 * Records the settings in force as accepted. Before the first run all are recorded. Where four eyes are in force, settings that may release
 * somebody are only proposed until a second person accepts the same; those before stay in force meanwhile.
 */
export async function acceptSettings(app: AppContext, { by, reason }: Acceptance) {
  const { database, clock, settings } = app;
  // Whoever accepts may not read the key of answers.
  const known = await findOrganisation(database, settings.organisation);
  const { organisationId } = known ?? (await openOrganisation(app));
  return database.transaction(async (transaction) => {
    const accepted = await readAcceptedSettings(transaction, organisationId, {
      isLocked: true,
      exceptReason: trialReason,
    });
    const now = toAssessmentSettings(settings);
    const differences = compareWith(accepted?.settings ?? now, settings);
    if (accepted !== null && differences.length === 0) {
      const ofNobody: readonly string[] = [];
      return { recorded: false, isProposed: false, differences, ofTwo: ofNobody, proposers: ofNobody };
    }
    const kept = keepRosters(accepted?.settings ?? {}, now);
    const offered = toRecordedSettings(kept, differences, { by, reason }, clock.now());
    const ofTwo = await findSettingsOfTwo(transaction, organisationId, kept);
    const proposers = ofTwo.length === 0 ? [] : await readProposers(transaction, organisationId, kept);
    if (ofTwo.length > 0) requireLogins(database, `accepting ${ofTwo.join(', ')}`);
    const isProposed = ofTwo.length > 0 && proposers.every((name) => name === by.name);
    if (!isProposed) await saveSettingsRecord(transaction, organisationId, offered);
    else if (proposers.length === 0) await proposeSettings(transaction, organisationId, offered);
    return {
      /** Nothing was recorded if there was nothing to accept, or if another person must accept the same. */
      recorded: !isProposed,
      isProposed,
      differences,
      /** The paths of the settings that take two people. */
      ofTwo,
      /** Who accepted the same before. */
      proposers,
    };
  });
}

/** Who accepts and why, from the flags; on Postgres the login is the person. Throws ConfigError with the missing flag. */
export async function findAcceptance(
  database: Database,
  { by, reason = '' }: { by?: string | undefined; reason?: string | undefined },
): Promise<Acceptance> {
  if (reason.trim() === '') {
    const message = 'is missing: an acceptance is stored with its person and reason';
    throw flagError('--reason', message);
  }
  return { by: await findReviewer(database, by), reason: reason.trim() };
}

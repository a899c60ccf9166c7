import { isDeepStrictEqual } from 'node:util';
import { usageError } from '../errors.js';
import type { RosterAcceptanceFacts } from '../reports/run-facts.js';
import type { Database } from '../store/database/database.js';
import type { RunSettings } from './app-context.js';
import type { Reviewer } from './review/people.js';

/** Sections that affect no result of a run. */
const beside = new Set([
  'rosters',
  'reports',
  'mail',
  'webhooks',
  'jobs',
  'scheduler',
  'database',
  'log',
  'sweep',
  'organisation',
]);
/** The sections that the settings digest covers: the search, and what counts as a change. */
const shaping = ['service.aml', 'changes'];

/** The settings that are stored with a run; no secret is among them, because the configuration holds none. */
export function toStoredSettings(settings: RunSettings): Record<string, unknown> {
  const kept = Object.entries(settings).filter(([section]) => !beside.has(section));
  return toRecord(JSON.parse(JSON.stringify(Object.fromEntries(kept))));
}

/** A changed setting, described with the old and the new value. */
interface ChangedSetting {
  path: string;
  words: string;
  /** Whether it affects the search or what counts as a change. */
  isShaping: boolean;
}

/** Describes each setting that differs between two configurations; lists by their length only. */
export function nameChangedSettings(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly ChangedSetting[] {
  const old = new Map(listLeaves(before, ''));
  const now = new Map(listLeaves(after, ''));
  const paths = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return paths
    .filter((path) => !isDeepStrictEqual(old.get(path), now.get(path)))
    .map((path) => ({
      path,
      words: describeChange(path, old.get(path), now.get(path)),
      isShaping: shaping.some((section) => path === section || path.startsWith(`${section}.`)),
    }));
}

function listLeaves(value: unknown, path: string): [string, unknown][] {
  if (!isRecord(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => listLeaves(inner, path === '' ? key : `${path}.${key}`));
}

function describeChange(path: string, before: unknown, after: unknown): string {
  const isOtherList = Array.isArray(before) && Array.isArray(after) && before.length === after.length;
  return `${path} was ${show(before)} and is ${isOtherList ? `a different list of ${after.length}` : show(after)}`;
}

function show(value: unknown): string {
  if (value === undefined || value === null) return 'not set';
  // Lists hold names and addresses, which must not be in messages.
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return String(value);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value as a record; an empty one for anything else. */
export const toRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

/** Who accepts, and why. */
export interface Acceptance {
  by: Reviewer;
  reason: string;
}

/** Throws ConfigError when two people are needed but the database has no logins that distinguish them. */
export function requireLogins({ dialect }: Pick<Database, 'dialect'>, what: string): void {
  if (dialect === 'postgres') return;
  const message = `${what} takes two people (review.fourEyes), and the embedded database has no logins: set DATABASE_URL`;
  throw usageError('DATABASE_URL', message);
}

/** The acceptance of a roster against its guards, as it is stored with the run. */
export const toAcceptanceFacts = (
  { by, reason }: Acceptance,
  heldBy: RosterAcceptanceFacts['heldBy'],
  acceptedAt: Date,
): RosterAcceptanceFacts => ({
  acceptedBy: by.name,
  isAttested: by.isAttested,
  reason,
  acceptedAt,
  heldBy,
  changes: [],
});

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}

/** The JSON text of a value, independent of the order of keys. */
export const toCanonicalJson = (value: unknown): string => JSON.stringify(sortKeys(value));

import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from '../errors.js';
import type { RosterAcceptanceFacts } from '../reports/list-facts.js';
import type { Database } from '../store/database/database.js';
import type { RunSettings } from './app-context.js';
import type { Reviewer } from './review/people.js';

/** Where files go, what runs when, and which rosters there are shapes no result of a run. */
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
/** What shapes the question and what counts as a change: the part of the settings that the settings digest covers. */
const shaping = ['service.aml', 'changes'];

/** The settings of a run as they are stored with it; no secret is among them, because none may stand in the configuration. */
export function toStoredSettings(settings: RunSettings): Record<string, unknown> {
  const kept = Object.entries(settings).filter(([section]) => !beside.has(section));
  const plain: unknown = JSON.parse(JSON.stringify(Object.fromEntries(kept)));
  return isRecord(plain) ? plain : {};
}

/** One setting that is not as it was, in words with the old and the new value. */
interface ChangedSetting {
  path: string;
  words: string;
  /** Whether it shapes what is asked or what counts as a change. */
  isShaping: boolean;
}

/** Names each setting that differs between what a run was begun with and what holds now; lists are reported by their length only. */
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
  return `${path} was ${show(before)} and is ${isOtherList ? `another one of ${after.length}` : show(after)}`;
}

function show(value: unknown): string {
  if (value === undefined || value === null) return 'not set';
  // Lists hold names and addresses, which must not get into messages.
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return String(value);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Somebody's word, and why. */
export interface Acceptance {
  by: Reviewer;
  reason: string;
}

/** Throws ConfigError where two people are needed and a second one would be no more than another name that the first one types. */
export function requireLogins({ dialect }: Pick<Database, 'dialect'>, what: string): void {
  if (dialect === 'postgres') return;
  const message = `${what} takes two people (review.fourEyes), and the embedded database knows nobody's login: set DATABASE_URL`;
  throw new ConfigError([{ where: 'DATABASE_URL', path: '', message }]);
}

/** Who took a roster against these guards, as it is kept with the run. */
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

/** The one text of a JSON value, whatever the order of its keys. */
export const toCanonicalJson = (value: unknown): string => JSON.stringify(sortKeys(value));

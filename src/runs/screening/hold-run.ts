import {
  assessVanished,
  type HoldFinding,
  type VanishedFigures,
  VanishedTally,
} from '../../changes/assess-vanished.js';
import { countNoun, formatCount } from '../../reports/text.js';
import { type HoldSettings, holdSettingsSchema } from '../../screening/settings.js';
import type { Queryable } from '../../store/database/database.js';
import {
  countAnswered,
  countOpenedAlerts,
  readComparedParties,
  readSecondSearches,
  readVanishedBefore,
  type SecondSearches,
  saveRunHold,
  saveVanishing,
} from '../../store/held-runs.js';
import type { RunRow } from '../../store/runs.js';
import { takeBackAnswers } from '../../store/unconfirmed-answers.js';
import { countNewlyOpen, countStates, holdWebhookEvents } from '../../store/webhooks.js';
import type { HitFamily } from '../../vocabulary.js';
import type { AppContext, RunSettings } from '../app-context.js';

/** A run whose answers are assessed. */
interface AnsweredRun {
  app: AppContext;
  run: RunRow;
}

const weekMs = 7 * 24 * 60 * 60 * 1_000;

/** The bounds within which a run counts by itself. */
export const readBounds = ({ screening }: Pick<RunSettings, 'screening'>): HoldSettings =>
  holdSettingsSchema.parse(screening.hold ?? {});

/** What a run no longer finds of the known hits of its roster. */
interface RunAssessment {
  figures: readonly VanishedFigures[];
  /** Why the run is to be held; empty where nothing holds it. */
  findings: readonly HoldFinding[];
  /** How many listed parties vanished, summed over the families. */
  vanished: number;
  /** The searches that miss them, at most so many. */
  findSearches(limit: number): readonly number[];
}

/** Compares the answers of a run so far with each party's last trusted answer. */
export async function assessRun(
  database: Queryable,
  { app, run }: AnsweredRun,
  accountId: number,
): Promise<RunAssessment> {
  const { settings, clock } = app;
  const tally = new VanishedTally(settings.changes.topics);
  const { runId, rosterId } = run;
  const scope = rosterId === null ? null : { runId, rosterId, accountId };
  if (scope) for await (const party of readComparedParties(database, scope)) tally.add(party);
  const figures = tally.figures();
  const vanished = figures.reduce((sum, one) => sum + one.vanished, 0);
  const since = new Date(clock.now().getTime() - weekMs);
  const before = scope && vanished > 0 ? await readVanishedBefore(database, scope, since) : {};
  const findings = assessVanished(figures, before, readBounds(settings));
  return { figures, findings, vanished, findSearches: (limit) => tally.findSearches(limit) };
}

const familyWords: Readonly<Record<HitFamily, string>> = {
  any: 'of all topics',
  sanction: 'for sanctions',
  crime: 'for crime',
  pep: 'for political exposure',
  associate: 'for closeness to exposed persons',
  other: 'of other known topics',
  unknown: 'of unknown topics',
};

/** Why a run is held, in words with both figures. */
export function describeFinding({ family, span, vanishedOfSpan, knownOfSpan, bound }: HoldFinding): string {
  const hits = `${formatCount(vanishedOfSpan)} of ${countNoun(knownOfSpan, 'known hit')} ${familyWords[family]}`;
  const when = span === 'week' ? ' within seven days' : '';
  const limit = bound === null ? 'all of them' : `the bound is ${Number((bound * 100).toFixed(1))} %`;
  return `${hits} vanished${when} (${limit})`;
}

/**
 * That second searches contradicted the first ones, or null. The other first answers of the run are then no better: customers without a known hit
 * have nothing that a wrong answer could be noticed by.
 */
function describeContradiction(second: SecondSearches | null, vanished: number): string | null {
  if (second === null || vanished >= second.vanished) return null;
  const searches = countNoun(second.searches, 'search was', 'searches were');
  return `known hits came back when ${searches} made again, so the first answers of this run are not to be relied on`;
}

/** Why a run is held, and how many customers it withholds answers for. */
export interface AnswerHold {
  reasons: readonly string[];
  customers: number;
}

/**
 * Judges the answers of a run that has come to its end, inside the transaction that closes it, and takes all of them back where they cannot be
 * relied on; null where they count.
 */
export async function holdUnreliable(
  transaction: Queryable,
  session: AnsweredRun & { runId: string },
  accountId: number,
): Promise<AnswerHold | null> {
  const { run, app } = session;
  const { figures, findings, vanished } = await assessRun(transaction, session, accountId);
  await saveVanishing(transaction, run.runId, figures);
  const second = await readSecondSearches(transaction, run.runId);
  const contradiction = describeContradiction(second, vanished);
  const reasons = [...findings.map(describeFinding), ...(contradiction === null ? [] : [contradiction])];
  if (reasons.length === 0) return null;
  const customers = await countAnswered(transaction, run.runId);
  await takeBackAnswers(transaction, run.runId, { reason: 'held', now: app.clock.now(), which: 'all' });
  return { reasons, customers };
}

/** Takes back all that is left of a run that is given up, where it would have been held; gives why, or nothing. */
export async function takeBackVanished(transaction: Queryable, { app, run }: AnsweredRun): Promise<readonly string[]> {
  if (run.accountId === null) return [];
  const { findings } = await assessRun(transaction, { app, run }, run.accountId);
  if (findings.length === 0) return [];
  // Its customers are planned anew, as those whom no control search has confirmed.
  const now = app.clock.now();
  await takeBackAnswers(transaction, run.runId, { reason: 'not_confirmed', now, which: 'all' });
  return findings.map(describeFinding);
}

/** That a run is held, why, and what to do. */
export const describeHeldAnswers = ({ reasons, customers }: AnswerHold, runId: string): string =>
  `its answers for ${countNoun(customers, 'customer')} are held, because ${reasons.join('; ')}: states stay as they were. ` +
  `If the lists did change like this, ${acceptCommand(runId)} applies the answers`;

const acceptCommand = (runId: string): string => `nightscreen runs accept ${runId} --by NAME --reason TEXT`;

/** Keeps with a held run how the customers of its roster stand meanwhile. */
export async function noteHold(
  transaction: Queryable,
  { run, app }: AnsweredRun & { runId: string },
  hold: AnswerHold,
): Promise<void> {
  const heldAt = app.clock.now();
  const states = run.rosterId === null ? {} : await countStates(transaction, run.rosterId, heldAt);
  const openedAlerts = await countOpenedAlerts(transaction, run.runId);
  await saveRunHold(transaction, run.runId, { kind: 'answers', ...hold, openedAlerts, states, heldAt });
}

/**
 * Keeps the changes of state that were recorded after `lastChange` from webhooks where far too many customers are newly open, and says so;
 * null where they are not.
 */
export async function holdWebhooks(
  transaction: Queryable,
  { run, runId, app }: AnsweredRun & { runId: string },
  lastChange: number,
  inScope: number,
): Promise<string | null> {
  const { rosterId } = run;
  if (rosterId === null) return null;
  const { newlyOpenShare, newlyOpenLeast } = readBounds(app.settings);
  const customers = await countNewlyOpen(transaction, rosterId, lastChange);
  if (customers < newlyOpenLeast || customers <= inScope * newlyOpenShare) return null;
  const waiting = await holdWebhookEvents(transaction, { runId: run.runId, rosterId }, lastChange);
  const reason = `${formatCount(customers)} of ${countNoun(inScope, 'customer')} are newly open in one run`;
  const heldAt = app.clock.now();
  await saveRunHold(transaction, run.runId, {
    ...{ kind: 'webhooks', reasons: [reason], customers, openedAlerts: 0, states: {}, heldAt },
  });
  const held = waiting === 0 ? '' : `: ${countNoun(waiting, 'change')} for webhooks wait until ${acceptCommand(runId)}`;
  return `${reason} (the bound is ${Number((newlyOpenShare * 100).toFixed(1))} %)${held}`;
}

import { assessVanished, VanishedTally } from '../../changes/assess-vanished.js';
import { countNoun, formatCount } from '../../reports/text.js';
import { type HoldBounds, toHoldBounds } from '../../screening/settings.js';
import type { Transaction } from '../../store/database/database.js';
import { countUnapplied } from '../../store/night/apply-answers.js';
import {
  holdWebhookEvents,
  readComparedParties,
  readVanishedBefore,
  saveRunHold,
  saveVanishing,
} from '../../store/night/held-runs.js';
import { toRunId } from '../../store/runs.js';
import { codeWords } from '../../vocabulary/words.js';
import type { RunContext, RunSettings } from '../app-context.js';

const weekMs = 7 * 24 * 60 * 60 * 1_000;

/** Why the answers of a run are held, and the number of customers that they are for. */
export interface AnswerHold {
  reasons: readonly string[];
  customers: number;
}

/** The bounds beyond which a run is held. */
export const readBounds = ({ screening }: Pick<RunSettings, 'screening'>): HoldBounds => toHoldBounds(screening.hold);

/**
 * Compares the answers of a run up to a wave with each party's last applied answer, and stores how many known hits have vanished. Returns why
 * the answers are to be held, or null.
 */
export async function findAnswerHold(
  transaction: Transaction,
  { app, run }: RunContext,
  accountId: number,
  upTo: number,
): Promise<AnswerHold | null> {
  const { runId, rosterId } = run;
  if (rosterId === null) return null;
  const { settings, clock } = app;
  const scope = { runId, rosterId, accountId };
  const tally = new VanishedTally(settings.changes.topics);
  for await (const party of readComparedParties(transaction, scope, upTo)) tally.add(party);
  const figures = tally.figures();
  await saveVanishing(transaction, runId, figures);
  if (figures.every(({ vanished }) => vanished === 0)) return null;
  const before = await readVanishedBefore(transaction, scope, new Date(clock.now().getTime() - weekMs));
  const findings = assessVanished(figures, before, readBounds(settings));
  if (findings.length === 0) return null;
  return { reasons: findings.map(describeFinding), customers: await countUnapplied(transaction, runId, upTo) };
}

/** Why a run is held, in words with both figures. */
function describeFinding({
  family,
  span,
  vanishedOfSpan,
  knownOfSpan,
  bound,
}: ReturnType<typeof assessVanished>[number]): string {
  const hits = `${formatCount(vanishedOfSpan)} of ${countNoun(knownOfSpan, 'known hit')} ${codeWords.hitFamily[family]}`;
  const when = span === 'week' ? ' within seven days' : '';
  const limit = bound === null ? 'all of them' : `the bound is ${toPercent(bound)} %`;
  return `${hits} vanished${when} (${limit})`;
}

const toPercent = (share: number): number => Number((share * 100).toFixed(1));

/** What a held run says of itself, with the command that accepts it. */
export const describeHeldAnswers = ({ reasons, customers }: AnswerHold, runId: string): string =>
  `its answers for ${countNoun(customers, 'customer')} are held, because ${reasons.join('; ')}: states stay as they were. ` +
  `If the lists did change like this, ${acceptCommand(runId)} applies the answers`;

/** The same of a run that stops and may go on. */
export const describeWaitingAnswers = ({ reasons, customers }: AnswerHold): string =>
  `its answers for ${countNoun(customers, 'customer')} wait for the end of the run, because ${reasons.join('; ')}`;

/**
 * Holds back the webhooks of the state changes after `lastChange` when too many customers are newly open. Returns the
 * reason, or null.
 */
export async function holdWebhooks(
  transaction: Transaction,
  { run, app }: RunContext,
  lastChange: number,
  inScope: number,
): Promise<string | null> {
  const { runId, rosterId } = run;
  if (rosterId === null) return null;
  const { newlyOpenShare, newlyOpenLeast } = readBounds(app.settings);
  const atLeast = Math.max(newlyOpenLeast, Math.floor(inScope * newlyOpenShare) + 1);
  const newlyOpen = await holdWebhookEvents(transaction, { runId, rosterId }, lastChange, atLeast);
  if (newlyOpen === null) return null;
  const { customers, messages } = newlyOpen;
  const reason = `${formatCount(customers)} of ${countNoun(inScope, 'customer')} are newly open in one run`;
  await saveRunHold(transaction, run, { kind: 'webhooks', reasons: [reason], customers, heldAt: app.clock.now() });
  const held =
    messages === 0 ? '' : `: ${countNoun(messages, 'change')} for webhooks wait until ${acceptCommand(toRunId(run))}`;
  return `${reason} (the bound is ${toPercent(newlyOpenShare)} %)${held}`;
}

const acceptCommand = (runId: string): string => `nightscreen runs accept ${runId} --by NAME --reason TEXT`;

import type { Report } from '../reports/report.js';
import { countNoun, formatCount, formatTime } from '../reports/text.js';
import { describeSettingsChanges } from '../reports/words.js';

/** A name, its value, and the address where the value is a link. */
export type MessageFact = readonly [name: string, value: string, href?: string];

/** What a message says, in the order of reading: a headline, sentences, details one by one, what to do, facts by name, a closing. */
export interface MessageLines {
  headline: string;
  sentences: readonly string[];
  details?: readonly string[];
  actions?: readonly string[];
  facts: readonly MessageFact[];
  closing: string;
}

/** What each kind of mail says about a report. */
export type ReportWords = Pick<MessageLines, 'sentences' | 'details' | 'actions'>;

/** Says that a test key was used; nothing with a live one. */
export const describeMode = (mode: Report['run']['mode']): readonly string[] =>
  mode === 'test'
    ? ['TEST: not evidence. This run used a test key; its answers say nothing about real customers.']
    : [];

/** What stands first in mail that tells of a whole report: changed settings, the key, what waits, what changed, what else is to be known. */
export function toOpening({ run, accepted, verdict }: Report): readonly string[] {
  return [
    ...describeSettingsChanges(accepted),
    ...describeMode(run.mode),
    verdict.waiting ?? '',
    verdict.news,
    ...verdict.remarks,
  ].filter((sentence) => sentence !== '');
}

/** Which run it is about. */
export function listRunFacts({ run }: Report): readonly MessageFact[] {
  return [
    ['Roster', run.roster ?? 'none'],
    ['Organisation', run.organisation],
    ['Run', `${run.runId} (${run.kind})`],
    ['Finished', formatTime(run.finishedAt)],
  ];
}

/** How much waits for a decision by severity, most severe first; nothing where nothing waits. */
export const describeOpenItems = ({ openItems }: Report): readonly string[] =>
  (openItems?.bySeverity ?? []).map(
    ({ severity, waiting, overdue }) =>
      `${countNoun(waiting, 'open alert')} ${severity === 'info' ? 'for information' : `rated ${severity}`}, ${overdue === 0 ? 'none' : formatCount(overdue)} overdue`,
  );

import { countNoun } from './format-count.js';
import { formatDay, formatTime } from './format-time.js';
import type { Span } from './span-facts.js';
import type { Verdict } from './verdict.js';

/** What a span comes to: as its last run left it, with what `waits` then, and never complete while any of its runs was not, or one is missing. */
export function toSpanVerdict(last: Verdict, { runs, gaps }: Span, waits: readonly string[]): Verdict {
  const troubled = runs.filter(({ level }) => level !== 'complete');
  const missed = gaps.reduce((sum, gap) => sum + gap.missed, 0);
  const coverage = `After ${countNoun(runs.length, 'run')}: ${last.coverage}`;
  if (troubled.length === 0 && missed === 0) return { ...last, coverage };
  const short = [
    ...(troubled.length > 0 ? [`${troubled.length} of ${countNoun(runs.length, 'run')} not complete`] : []),
    ...(missed > 0 ? [`${countNoun(missed, 'screening')} missing`] : []),
  ];
  return {
    level: last.level === 'red' ? 'red' : 'partial',
    short: last.level === 'complete' ? [...short, ...waits].join(', ') : last.short,
    coverage: `${toSentence(short.join(', '))} ${coverage}`,
    waiting: last.waiting,
    news: last.news,
    remarks: [
      ...troubled.map(({ runId, startedAt, trouble }) => `Run ${runId} of ${formatDay(startedAt)}: ${trouble}.`),
      ...gaps.map(
        ({ from, until, missed: count }) =>
          `Nobody was screened between ${formatTime(from)} and ${formatTime(until)}: ${countNoun(count, 'screening')} missing.`,
      ),
      ...last.remarks,
    ],
  };
}

const toSentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

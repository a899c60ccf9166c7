import type { CadenceFacts, CanaryFacts, RunFacts } from './run-facts.js';
import type { Span, SpanFacts, SpanGap, SpanRun, SpanRunFacts } from './span-facts.js';
import { toLevel, toTrouble } from './verdict.js';

const hourMs = 3_600_000;

/** Judges each run of a span, and finds when nobody was screened although the cadence asked for it. */
export function toSpan(facts: SpanFacts, cadence: CadenceFacts | null): Span {
  const { from } = facts;
  const gaps = findGaps(facts, cadence);
  // It reaches to the present only where something is missing up to then: else it is the same tomorrow.
  const lastGap = gaps.at(-1);
  const until = lastGap !== undefined && lastGap.until > facts.until ? lastGap.until : facts.until;
  return { from, until, runs: facts.runs.map(toSpanRun), gaps };
}

function toSpanRun(run: SpanRunFacts): SpanRun {
  const { canaries, watch, states, wantsAll, ...told } = run;
  const judged = { ...run, sweeps: [], held: [] };
  const level = toLevel(judged);
  const trouble = level === 'complete' ? null : toTrouble(judged, level);
  return { ...told, level, trouble, notScreened: states?.not_screened ?? null };
}

/** Hours and not days: a night belongs to other days in other time zones, and moves with summer time. */
function findGaps({ from, until, asOf, runs }: SpanFacts, cadence: CadenceFacts | null): readonly SpanGap[] {
  const usualMs = Math.max(24, Math.min(...Object.values(cadence?.hours ?? { daily: 24 }))) * hourMs;
  const times = [from, ...runs.filter(isWholeScreening).map(({ startedAt }) => startedAt), asOf ?? until];
  return times.flatMap((time, index): SpanGap[] => {
    const next = times[index + 1];
    if (next === undefined) return [];
    const spans = (next.getTime() - time.getTime()) / usualMs;
    // Between two screenings, and up to the present, a late one is none that is missing; to an edge of the span nobody knows of one beyond it.
    const isInner = index > 0 && (asOf !== null || index < times.length - 2);
    const missed = isInner ? (spans > 1.5 ? Math.round(spans) - 1 : 0) : Math.ceil(spans) - 1;
    return missed > 0 ? [{ from: time, until: next, missed }] : [];
  });
}

/** One that asks about some alone, as about new customers, leaves the others without their screening. */
const isWholeScreening = ({ wantsAll, counts, states }: SpanRunFacts): boolean =>
  counts !== null && states !== null && (wantsAll || counts.skipped === 0);

/** The control searches of several runs in order, each with all its rounds; its verdict is the worst of them, and failed ones come first. */
export function mergeCanaries(runs: readonly Pick<RunFacts, 'canaries'>[]): readonly CanaryFacts[] {
  const byName = new Map<string, CanaryFacts>();
  for (const canary of runs.flatMap(({ canaries }) => canaries)) {
    const key = JSON.stringify([canary.type, canary.name, canary.expect, canary.topics]);
    const former = byName.get(key);
    const worst = former?.verdict === 'failed' ? former : canary;
    byName.set(key, { ...worst, rounds: [...(former?.rounds ?? []), ...canary.rounds] });
  }
  const all = [...byName.values()];
  return [...all.filter(({ verdict }) => verdict === 'failed'), ...all.filter(({ verdict }) => verdict !== 'failed')];
}

import { codeWords } from '../vocabulary/words.js';
import { type RunMode, type Severity, severities, stateOrder } from '../vocabulary.js';
import { type GroupFacts, type GroupReport, type GroupRoster, type GroupRosterFacts, heldWords } from './group.js';
import { compareText, countNoun, formatCount, formatMinute, keep, replaceInstants, toSentence } from './text.js';
import { toSpan } from './verdict.js';
import { describeChange, describeStates } from './words.js';

/** The report of these facts. */
export function toGroupReport(facts: GroupFacts): GroupReport {
  const { rosters: all, pause: _, isNight: __, ...span } = facts;
  const { jobs, isCurrent } = facts;
  const running = all.flatMap((one) => (one.runs.some(({ state }) => state === 'running') ? [one.roster] : []));
  const isInProgress = isCurrent && (running.length > 0 || jobs.some((one) => isNight(one) && one.state === 'running'));
  const assessed = all
    .map((roster) => toRoster(roster, facts, isInProgress ? running : null))
    .filter((roster) => roster !== null)
    .toSorted((one, other) => toRank(one) - toRank(other) || compareText(one.roster, other.roster));
  const total = addUp(assessed);
  const mode: RunMode = assessed.some((roster) => roster.mode === 'test') ? 'test' : 'live';
  return { ...span, mode, rosters: assessed, total, verdict: toGroupVerdict(assessed, total, facts) };
}

const isNight = ({ job }: GroupReport['jobs'][number]): boolean => job === 'rescreen';

/** The place of a roster in the report: the least screened first. */
function toRank({ outcome, level }: Pick<GroupRoster, 'outcome' | 'level'>): number {
  if (outcome === 'never_imported' || outcome === 'did_not_run') return 0;
  if (outcome === 'not_begun') return 1;
  if (level === 'red') return 2;
  if (level === 'partial') return outcome === 'not_configured' ? 4 : 3;
  return 5;
}

/** Null for a former roster about which nothing is left to say. `running`: the rosters of a night in progress; null where none is. */
function toRoster(
  roster: GroupRosterFacts,
  { from, until, isCurrent, isNight: isAboutNight, dueAt, timezone }: GroupFacts,
  running: readonly string[] | null,
): GroupRoster | null {
  const { customers, alerts, isConfigured, held, mode, urgent } = roster;
  const asOf = isCurrent ? until : null;
  const { runs, gaps } = toSpan({ from, until, asOf, runs: roster.runs, restores: [] }, roster.cadence, timezone);
  const index = roster.runs.findLastIndex(
    ({ kind, wantsAll, counts, state }) =>
      kind !== 'import' && (wantsAll || counts?.skipped === 0) && state !== 'abandoned',
  );
  const [last, run] = [runs[index], roster.runs[index]];
  if (!isConfigured && !run && (alerts?.waiting ?? 0) + (customers?.inScope ?? 0) === 0) return null;
  const outcome = run ? run.state : findAbsence(roster, running);
  const missed = gaps.reduce((sum, gap) => sum + gap.missed, 0);
  const others = runs.filter((one, place) => place !== index && one.level !== 'complete' && one.kind !== 'import');
  const troubles = keep(
    !run && describeAbsence(roster, outcome, { dueAt, from, timezone, running: running ?? [] }),
    run?.state === 'running' && `${run.runId} is still in progress since ${formatMinute(run.startedAt, timezone)}`,
    run &&
      run.state !== 'running' &&
      last?.trouble &&
      keep(last.trouble, endedEarly.has(run.state) && run.reasons[0]).join(': '),
    outcome === 'complete' && roster.uncovered,
    // The trouble of the run says that its answers are held.
    ...held.map(({ kind }) => (kind !== 'answers' || !run) && `${heldWords[kind]} held`),
    run && !isConfigured && 'the configuration no longer names it',
    run && missed > 0 && `${countNoun(missed, 'screening')} missing in the span`,
    run && !isAboutNight && others.length > 0 && `${countNoun(others.length, 'other run')} of the span not complete`,
  );
  const level = run === undefined && outcome !== 'not_configured' ? 'red' : (last?.level ?? 'partial');
  return {
    roster: roster.roster,
    outcome,
    level: level === 'complete' && troubles.length > 0 ? 'partial' : level,
    trouble: troubles.length === 0 ? null : toSentence(inZone(troubles.join('; '), timezone)),
    isConfigured,
    mode,
    run: run
      ? {
          id: run.runId,
          kind: run.kind,
          exitCode: run.state === 'running' ? null : run.exitCode,
          startedAt: run.startedAt,
          finishedAt: run.finishedAt,
          reasons: run.reasons,
          report: roster.reports.get(run.runId) ?? null,
          counts: run.counts && {
            screened: run.counts.screened,
            reused: run.counts.reused,
            failed: run.counts.failed,
            remaining: run.counts.remaining,
          },
        }
      : null,
    runs: runs.length,
    customers,
    alerts,
    changes: toChanges(roster, urgent),
    held,
  };
}

/** Their first reason says more than the state. */
const endedEarly: ReadonlySet<string> = new Set(['refused', 'stopped', 'unbalanced']);

const inZone = (text: string, timezone: string): string =>
  replaceInstants(text, (moment) => formatMinute(moment, timezone));

function findAbsence(
  { isConfigured, isImported }: GroupRosterFacts,
  running: readonly string[] | null,
): GroupRoster['outcome'] {
  if (!isConfigured) return 'not_configured';
  if (running !== null) return 'not_begun';
  return isImported ? 'did_not_run' : 'never_imported';
}

function describeAbsence(
  { before, alerts, customers }: GroupRosterFacts,
  outcome: GroupRoster['outcome'],
  { dueAt, from, timezone, running }: Pick<GroupFacts, 'dueAt' | 'from' | 'timezone'> & { running: readonly string[] },
): string {
  const last =
    before === null
      ? 'no screening of it was ever made'
      : `the last one is ${before.runId} of ${formatMinute(before.startedAt, timezone)} (${codeWords.runState[before.state]})`;
  if (outcome === 'not_configured')
    return `the configuration no longer names it, so no night screens its ${countNoun(customers?.inScope ?? 0, 'customer')} (${countNoun(alerts?.waiting ?? 0, 'open alert')}); ${last}`;
  if (outcome === 'never_imported') return 'it was never imported: none of its customers is known or screened';
  if (outcome === 'not_begun') {
    const others = running.length === 0 ? '' : ` (${running.join(', ')})`;
    return `its screening has not begun, and the night is still in progress${others}; ${last}`;
  }
  const since = dueAt === null ? 'since' : 'since it was due at';
  return `no screening of it has begun ${since} ${formatMinute(dueAt ?? from, timezone)}; ${last}`;
}

function toChanges({ changed, reports }: GroupRosterFacts, urgent: GroupRosterFacts['urgent']): GroupRoster['changes'] {
  if (changed.length === 0) return null;
  const counted = severities.map((severity) => ({
    severity,
    changes: changed.reduce((sum, { changes }) => sum + changes[severity], 0),
    baseline: changed.reduce((sum, { baseline }) => sum + baseline[severity], 0),
  }));
  const found = counted.filter(({ changes, baseline }) => changes + baseline > 0);
  const ofNote = found.filter(({ severity }) => isUrgent(severity)).reduce((sum, { changes }) => sum + changes, 0);
  return {
    bySeverity: found,
    urgent: urgent.map((change) => ({
      runId: change.runId,
      severity: change.severity,
      customer: change.party.reference,
      riskTier: change.party.riskTier,
      change: describeChange(change),
      topics: (change.after ?? change.before)?.topics ?? [],
      report: reports.get(change.runId) ?? null,
    })),
    unlisted: Math.max(0, ofNote - urgent.length),
  };
}

const isUrgent = (severity: Severity): boolean => severity === 'critical' || severity === 'high';

const add = <One>(all: readonly One[], toCount: (one: One) => number): number =>
  all.reduce((sum, one) => sum + toCount(one), 0);

/** The sums over the rosters whose figures are known. */
function addUp(rosters: readonly GroupRoster[]): GroupReport['total'] {
  const customers = rosters.flatMap((one) => one.customers ?? []);
  const uncovered = customers.flatMap((one) => one.uncovered ?? []);
  const alerts = rosters.flatMap((one) => one.alerts ?? []);
  const oldest = alerts.flatMap(({ oldestAt }) => oldestAt?.getTime() ?? []);
  const waiting = alerts.flatMap((one) => one.bySeverity);
  const changes = rosters.flatMap((one) => one.changes ?? []);
  const changed = changes.flatMap((one) => one.bySeverity);
  const ofSeverity = <One extends { severity: Severity }>(all: readonly One[], severity: Severity): readonly One[] =>
    all.filter((one) => one.severity === severity);
  return {
    customers:
      customers.length === 0
        ? null
        : {
            inScope: add(customers, (one) => one.inScope),
            states: stateOrder.map((code) => ({
              code,
              count: add(customers, ({ states }) => states.find((state) => state.code === code)?.count ?? 0),
            })),
            uncovered:
              uncovered.length === 0
                ? null
                : {
                    never: add(uncovered, ({ never }) => never),
                    overdue: add(uncovered, ({ overdue }) => overdue),
                    others: add(uncovered, ({ others }) => others),
                  },
          },
    alerts:
      alerts.length === 0
        ? null
        : {
            waiting: add(alerts, (one) => one.waiting),
            overdue: add(alerts, ({ overdue }) => overdue),
            opened: add(alerts, ({ opened }) => opened),
            oldestAt: oldest.length === 0 ? null : new Date(Math.min(...oldest)),
            bySeverity: severities.flatMap((severity) => {
              const those = ofSeverity(waiting, severity);
              if (those.length === 0) return [];
              const isKnown = those.every(({ opened }) => opened !== null);
              return {
                severity,
                waiting: add(those, (one) => one.waiting),
                overdue: add(those, ({ overdue }) => overdue),
                opened: isKnown ? add(those, ({ opened }) => opened ?? 0) : null,
              };
            }),
          },
    changes:
      changes.length === 0
        ? null
        : {
            bySeverity: severities.flatMap((severity) => {
              const those = ofSeverity(changed, severity);
              if (those.length === 0) return [];
              return {
                severity,
                changes: add(those, (one) => one.changes),
                baseline: add(those, ({ baseline }) => baseline),
              };
            }),
            urgent: [],
            unlisted: 0,
          },
  };
}

const mostNamed = 3;

/** The names of rosters for one line: `savings, cards and 3 others`. */
function nameRosters(rosters: readonly Pick<GroupRoster, 'roster'>[]): string {
  const named = rosters.slice(0, mostNamed).map(({ roster }) => roster);
  const left = rosters.length - named.length;
  return left === 0 ? named.join(', ') : `${named.join(', ')} and ${countNoun(left, 'other')}`;
}

/** The result in words, the worst first. */
function toGroupVerdict(
  rosters: readonly GroupRoster[],
  { customers, alerts, changes }: GroupReport['total'],
  { timezone, pause, jobs }: GroupFacts,
): GroupReport['verdict'] {
  const those = (isMeant: (roster: GroupRoster) => boolean): readonly GroupRoster[] => rosters.filter(isMeant);
  const ofRank = (rank: number): readonly GroupRoster[] => those((roster) => toRank(roster) === rank);
  const say = (found: readonly GroupRoster[], words: string): string | false =>
    found.length > 0 && `${countNoun(found.length, 'roster')} ${words}: ${nameRosters(found)}`;
  const [absent, waiting, red, partial, former] = [ofRank(0), ofRank(1), ofRank(2), ofRank(3), ofRank(4)];
  const running = those(({ outcome }) => outcome === 'running');
  const troubles = keep(
    rosters.length === 0 && 'no roster is configured or imported',
    say(absent, 'did not run'),
    say(waiting, 'not begun'),
    say(
      red.filter(({ outcome }) => outcome === 'refused'),
      'refused',
    ),
    say(
      red.filter(({ outcome }) => outcome !== 'refused'),
      'not to be relied on',
    ),
    say(running, 'still running'),
    say(
      partial.filter(({ outcome }) => outcome !== 'running'),
      'not complete',
    ),
    say(former, 'no longer configured'),
  );
  const isRed = rosters.length === 0 || absent.length + waiting.length + red.length > 0;
  const level = isRed ? 'red' : troubles.length > 0 ? 'partial' : 'complete';
  const work = describeGroupAlerts(alerts);
  const whole = `${rosters.length > 1 ? 'all ' : ''}${countNoun(rosters.length, 'roster')} complete`;
  return {
    level,
    short: keep(...troubles, level === 'complete' && whole, work).join('; '),
    coverage: troubles.length === 0 ? toSentence(whole) : toSentence(troubles.join('; ')),
    waiting: describeCustomers(customers, rosters),
    news: describeGroupNews(changes),
    remarks: [
      ...keep(
        pause && `The schedule is paused until ${formatMinute(pause.until, timezone)} by ${pause.by}: no job starts.`,
      ),
      ...rosters.flatMap(({ roster, trouble }) => (trouble === null ? [] : [`${roster}: ${trouble}`])),
      ...jobs.flatMap((job) =>
        isNight(job) && job.state === 'finished' && absent.length === 0 ? [] : (describeJob(job, timezone) ?? []),
      ),
    ],
  };
}

/** Why a job of the night did not end well; null where it did. */
function describeJob(
  { job, dueAt, state, exitCode, because }: GroupReport['jobs'][number],
  timezone: string,
): string | null {
  if (state === 'finished' && exitCode === 0) return null;
  const how =
    state === 'finished' ? `ended with exit code ${exitCode}` : state === 'missed' ? 'was missed' : `is ${state}`;
  const why = because === null ? '' : `: ${inZone(because, timezone)}`;
  return toSentence(`The job ${job} of ${formatMinute(dueAt, timezone)} ${how}${why}`);
}

const describeGroupAlerts = (alerts: GroupReport['total']['alerts']): string => {
  if (alerts === null) return 'open alerts are not known';
  if (alerts.waiting === 0) return 'no open alert';
  const critical = alerts.bySeverity.find(({ severity }) => severity === 'critical')?.waiting ?? 0;
  return keep(
    alerts.opened > 0 && countNoun(alerts.opened, 'new alert'),
    countNoun(alerts.waiting, 'open alert'),
    critical > 0 && `${formatCount(critical)} critical`,
    alerts.overdue > 0 && `${formatCount(alerts.overdue)} overdue`,
  ).join(', ');
};

function describeCustomers(customers: GroupReport['total']['customers'], rosters: readonly GroupRoster[]): string {
  if (customers === null) return 'No customer is known.';
  const unknown = rosters.filter((one) => one.customers === null);
  const states = describeStates(Object.fromEntries(customers.states.map((state) => [state.code, state.count])));
  const without = unknown.length === 0 ? '' : `, without those of ${nameRosters(unknown)}`;
  const counted = `${countNoun(customers.inScope, 'customer')} in scope${without}`;
  return states === '' ? `${counted}.` : `${counted}: ${states}.`;
}

function describeGroupNews(changed: GroupReport['total']['changes']): string {
  if (changed === null) return 'No run has ended: what changed is not known.';
  const { bySeverity: found } = changed;
  const list = (of: 'changes' | 'baseline'): string =>
    found
      .filter((one) => one[of] > 0)
      .map((one) => `${formatCount(one[of])} ${codeWords.severity[one.severity].toLowerCase()}`)
      .join(', ');
  const [changes, baseline] = [list('changes'), list('baseline')];
  return keep(
    changes === '' ? 'The runs that have ended found no change.' : `Changes: ${changes}.`,
    baseline !== '' && `Matches of first screenings: ${baseline}.`,
  ).join(' ');
}

import { countNoun } from '../../reports/format-count.js';
import { formatTime } from '../../reports/format-time.js';
import { describeIncident } from '../../scheduling/watchdog/describe-incident.js';
import type { Watch } from '../../scheduling/watchdog/watch.js';
import type { Incident } from '../../store/incidents.js';
import { exitCodes } from '../exit-code.js';
import type { Outcome } from '../invocation.js';
import { describePause } from '../schedule/control-schedule.js';

function describeAlarms(watch: Watch): readonly string[] {
  return watch.findings.flatMap((finding) => {
    const { incident, isKnown, isNews, reason, actions } = finding;
    const standing = isKnown ? 'known' : 'ALARM';
    const told = isNews ? 'told now' : `told ${formatTime(incident.toldAt)}`;
    return [
      `${standing}  ${describeIncident(finding)}`,
      `       ${reason}`,
      `       since ${formatTime(incident.openedAt)}, ${told}`,
      ...(isKnown ? [] : actions.map((action) => `       -> ${action}`)),
    ];
  });
}

/** What a look of the watchdog says: every alarm with what to type, what is known, and what is over. */
export function presentWatch(watch: Watch): Outcome {
  const over = watch.over.map(
    (incident) => `over   ${describeIncident(incident)}, since ${formatTime(incident.openedAt)}`,
  );
  const dropped = watch.dropped.map(
    (incident) =>
      `closed ${describeIncident(incident)}, since ${formatTime(incident.openedAt)}: nobody watches it any more`,
  );
  const unscreened = watch.unscreened.map(
    (roster) => `new    ${roster}: no night has screened it yet, and none was due`,
  );
  const paused = watch.pause === null ? [] : [`paused ${describePause(watch.pause)}`];
  const alarms = watch.findings.filter(({ isKnown }) => !isKnown).length;
  const rosters = countNoun(watch.rosters.length, 'roster');
  const verdict = alarms === 0 ? `no alarm: ${rosters} watched` : `${countNoun(alarms, 'alarm')}: ${rosters} watched`;
  return {
    exitCode: watch.isAlarm ? exitCodes.incomplete : exitCodes.complete,
    document: {
      schema: 'nightscreen/watchdog/1',
      at: watch.at.toISOString(),
      isAlarm: watch.isAlarm,
      canLook: true,
      rosters: watch.rosters,
      findings: watch.findings.map(({ kind, subject, roster, reason, actions, isKnown, isNews, incident }) => ({
        kind,
        subject,
        roster,
        reason,
        actions,
        isKnown,
        isNews,
        incidentId: incident.incidentId,
        openedAt: incident.openedAt.toISOString(),
        toldAt: incident.toldAt.toISOString(),
        timesTold: incident.timesTold,
      })),
      over: watch.over.map(toClosed),
      dropped: watch.dropped.map(toClosed),
      unscreened: watch.unscreened,
      pause: watch.pause,
    },
    text: [...describeAlarms(watch), ...over, ...dropped, ...unscreened, ...paused, verdict, ''].join('\n'),
  };
}

const toClosed = ({ incidentId, kind, subject, openedAt }: Incident) => ({ incidentId, kind, subject, openedAt });

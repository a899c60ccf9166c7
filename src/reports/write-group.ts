import { z } from 'zod';
import { severities, stateOrder } from '../vocabulary.js';
import { renderCsv } from './csv.js';
import { type GroupReport, type GroupRoster, groupReportSchema, heldWords } from './group.js';
import { renderGroupPage } from './html-group.js';
import { publish } from './report-json.js';
import type { Column } from './section.js';
import { toVisibleJson } from './text.js';
import { type MakeRoom, type WrittenReport, writeReportFiles } from './write-report.js';

const parts = Object.entries(groupReportSchema.shape).map(([name, part]) => [name, publish(part)] as const);

/** `report.json` of the report over all rosters. */
export const groupJsonSchema = z.strictObject({
  schema: z.literal('nightscreen/group-report/1'),
  ...Object.fromEntries(parts),
});

/** `report.json` of the report over all rosters: the whole report. */
export const renderGroupJson = (report: GroupReport): string =>
  toVisibleJson(`${JSON.stringify({ schema: groupJsonSchema.shape.schema.value, ...report }, null, 2)}\n`);

/** `rosters.csv`: a line for each roster; a figure that is not known is empty. */
const rosterColumns: readonly Column<GroupRoster>[] = [
  { key: 'roster', cell: ({ roster }) => roster },
  { key: 'outcome', cell: ({ outcome }) => outcome },
  { key: 'level', cell: ({ level }) => level },
  { key: 'trouble', cell: ({ trouble }) => trouble },
  { key: 'mode', cell: ({ mode }) => mode },
  { key: 'run', cell: ({ run }) => run?.id },
  { key: 'exit_code', cell: ({ run }) => run?.exitCode },
  { key: 'started_at', cell: ({ run }) => run?.startedAt },
  { key: 'finished_at', cell: ({ run }) => run?.finishedAt },
  { key: 'in_scope', cell: ({ customers }) => customers?.inScope },
  ...stateOrder.map((code) => ({
    key: code,
    cell: ({ customers }: GroupRoster) =>
      customers === null ? null : (customers.states.find((state) => state.code === code)?.count ?? 0),
  })),
  ...(['screened', 'reused', 'failed', 'remaining'] as const).map((name) => ({
    key: name,
    cell: ({ run }: GroupRoster) => run?.counts?.[name],
  })),
  { key: 'never_screened', cell: ({ customers }) => customers?.uncovered?.never },
  { key: 'overdue', cell: ({ customers }) => customers?.uncovered?.overdue },
  { key: 'not_valid_otherwise', cell: ({ customers }) => customers?.uncovered?.others },
  { key: 'open_alerts', cell: ({ alerts }) => alerts?.waiting },
  { key: 'new_alerts', cell: ({ alerts }) => alerts?.opened },
  { key: 'overdue_alerts', cell: ({ alerts }) => alerts?.overdue },
  { key: 'oldest_alert', cell: ({ alerts }) => alerts?.oldestAt },
  ...severities.map((severity) => ({
    key: `open_${severity}`,
    cell: ({ alerts }: GroupRoster) =>
      alerts === null ? null : (alerts.bySeverity.find((one) => one.severity === severity)?.waiting ?? 0),
  })),
  ...severities.map((severity) => ({
    key: `changes_${severity}`,
    cell: ({ changes }: GroupRoster) =>
      changes && (changes.bySeverity.find((one) => one.severity === severity)?.changes ?? 0),
  })),
  {
    key: 'first_matches',
    cell: ({ changes }) => changes?.bySeverity.reduce((sum, { baseline }) => sum + baseline, 0),
  },
  { key: 'waits_for', cell: ({ held }) => held.map(({ command, kind }) => command ?? heldWords[kind]).join('; ') },
];

/** Writes the report over all rosters to `<directory>/<its name>` as `writeReport` does. */
export function writeGroupReport(
  report: GroupReport,
  directory: string,
  makeRoom: MakeRoom,
  nameInCommands?: string,
): Promise<WrittenReport> {
  const contents = [
    { name: 'report.html', chunks: renderGroupPage(report) },
    { name: 'rosters.csv', chunks: renderCsv(rosterColumns, report.rosters, report.timezone) },
    { name: 'report.json', chunks: [renderGroupJson(report)] },
  ];
  const head = { runId: report.name, version: report.version, nameInCommands };
  return writeReportFiles(head, contents, directory, makeRoom);
}

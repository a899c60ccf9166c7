import { z } from 'zod';
import { severities, stateOrder } from '../vocabulary.js';
import { listNewAlerts, type Report, readBaseline, readChanges } from './report.js';
import { type ReportJson, reportJsonSchema } from './report-json.js';
import { type MatchChangeFacts, mapBatches, type NotScreenedFacts, readWhole } from './run-facts.js';

/** The source of a part of the document: times may be dates, and objects may have further properties. */
type Source<Json> = Json extends string
  ? string extends Json
    ? Json | Date
    : Json
  : Json extends readonly (infer Entry)[]
    ? readonly Source<Entry>[]
    : Json extends object
      ? { readonly [Key in keyof Json]: Source<Json[Key]> }
      : Json;

type Lists = 'changes' | 'baselineChanges' | 'notScreened';

/** The report with the names of the schema; long lists come in batches of finished lines. */
function toSource(report: Report): Source<Omit<ReportJson, Lists>> & Readonly<Record<Lists, unknown>> {
  const { run, span, changes, baseline, dossiers, history, notScreened } = report;
  return {
    schema: 'nightscreen/report/2',
    ...(report.isMasked && { masked: report.isMasked }),
    run: { ...run, id: run.runId },
    span: span && { ...span, runs: span.runs.map((one) => ({ ...one, id: one.runId })) },
    verdict: report.verdict,
    ...report.accepted,
    held: report.held.map((one) => ({
      ...one,
      states: stateOrder.flatMap((code) => (one.states[code] === undefined ? [] : [{ code, count: one.states[code] }])),
    })),
    rosterChanges: report.rosterChanges,
    coverage: report.coverage,
    baseline: baseline.map(({ severity, count }) => ({ code: severity, count })),
    carriedFrom: report.carriedFrom,
    calls: report.calls,
    health: history.health,
    settled: history.settled,
    trend: history.trend.map(({ changesBySeverity, ...point }) => ({
      ...point,
      changesBySeverity: severities.map((severity) => ({ code: severity, count: changesBySeverity[severity] })),
    })),
    evidence: report.evidence,
    openAlerts: report.openAlerts,
    newAlerts: listNewAlerts(report).map(({ mark, news, severity, party, listed }) => ({
      code: mark,
      news: news ?? 'opened',
      severity,
      reference: party.reference,
      name: party.name,
      listedName: listed.name,
      topics: listed.topics,
    })),
    details: report.details,
    controls: report.controls,
    watch: report.watch,
    sweeps: dossiers?.sweeps ?? null,
    groups: (changes ?? []).flatMap(({ clusters }) => clusters),
    changes: changes && mapBatches(readChanges(report), toChangeLine),
    baselineChanges: mapBatches(readBaseline(report), toChangeLine),
    dossierChanges: dossiers?.changes ?? null,
    reconciliations: report.reconciliations,
    notScreened:
      notScreened && mapBatches(readWhole('not screened', notScreened, report.cut.notScreened), toNotScreenedLine),
    droppedParties: report.droppedParties,
    rejects: report.rejects?.map((row) => ({ ...row, fields: Object.entries(row.fields) })) ?? null,
    doubted: report.doubted.map((row) => ({ ...row, fields: Object.entries(row.fields) })),
  };
}

const { baselineChanges, notScreened } = reportJsonSchema.shape;

type ToJson = (source: unknown) => unknown;

/** Maps a source to exactly the keys of the schema, in its order; JSON writes dates as ISO 8601 UTC. */
function toMapping(schema: z.core.$ZodType): ToJson {
  if (schema instanceof z.ZodNullable) {
    const map = toMapping(schema.unwrap());
    return (source) => (source === null ? null : map(source));
  }
  if (schema instanceof z.ZodArray) {
    const map = toMapping(schema.element);
    return (source) => (Array.isArray(source) ? source.map(map) : source);
  }
  if (schema instanceof z.ZodObject) {
    const parts = listParts(schema);
    return (source) =>
      isObject(source) ? Object.fromEntries(parts.map(([key, map]) => [key, map(source[key])])) : source;
  }
  return (source) => source;
}

const listParts = (schema: z.ZodObject): readonly (readonly [string, ToJson])[] =>
  Object.entries(schema.shape).map(([key, part]) => [key, toMapping(part)]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const parts = new Map(listParts(reportJsonSchema));
const toChangeJson = toMapping(baselineChanges.element);
const toNotScreenedJson = toMapping(notScreened.unwrap().element);

function toChangeLine({ cluster, ...change }: MatchChangeFacts): unknown {
  const line: Source<ReportJson['baselineChanges'][number]> = { ...change, group: cluster ?? null };
  return toChangeJson(line);
}

function toNotScreenedLine({ party, ...rest }: NotScreenedFacts): unknown {
  // An id without a readable record has no known type.
  const type = party.name === '' ? null : party.type;
  const line: Source<NonNullable<ReportJson['notScreened']>[number]> = { ...rest, party: { ...party, type } };
  return toNotScreenedJson(line);
}

/** `report.json` in chunks, with texts unchanged: one line per key and per entry of an array, so that two reports can be compared by line. */
export async function* renderJson(report: Report): AsyncGenerator<string> {
  let opening = '{\n';
  for (const [key, source] of Object.entries(toSource(report))) {
    const value = isInBatches(source) ? source : parts.get(key)?.(source);
    yield `${opening}${JSON.stringify(key)}: `;
    if (Array.isArray(value)) yield* renderEntries([value]);
    else if (isInBatches(value)) yield* renderEntries(value);
    else yield JSON.stringify(value);
    opening = ',\n';
  }
  yield '\n}\n';
}

const isInBatches = (value: unknown): value is AsyncIterable<readonly unknown[]> =>
  isObject(value) && Symbol.asyncIterator in value;

async function* renderEntries(
  batches: Iterable<readonly unknown[]> | AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string> {
  let opening = '[\n';
  for await (const entries of batches) {
    for (const entry of entries) {
      yield `${opening}${JSON.stringify(entry)}`;
      opening = ',\n';
    }
  }
  yield opening === '[\n' ? '[]' : '\n]';
}

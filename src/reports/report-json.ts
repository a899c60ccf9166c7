import { z } from 'zod';
import * as facts from '../vocabulary/facts.js';
import * as sourceFacts from '../vocabulary/source-facts.js';
import { alertNews, runKinds, runModes, runStates, severities, stateOrder, verdictLevels } from '../vocabulary.js';

/** A value in a document: times are texts. */
type JsonOf<Value> = Value extends Date
  ? string
  : Value extends readonly (infer One)[]
    ? JsonOf<One>[]
    : Value extends object
      ? { [Name in keyof Value]: JsonOf<Value[Name]> }
      : Value;

/** The shape of stored facts in a document: objects have no further keys, and times are in ISO 8601. */
export function publish<Shape extends z.ZodType>(shape: Shape): z.ZodType<JsonOf<z.infer<Shape>>>;
export function publish(shape: z.core.$ZodType): z.ZodType;
export function publish(shape: z.core.$ZodType): z.ZodType {
  if (shape === facts.instant) return instant;
  if (shape instanceof z.ZodNullable) return publish(shape.unwrap()).nullable();
  if (shape instanceof z.ZodArray) return z.array(publish(shape.element));
  if (shape instanceof z.ZodObject) {
    const parts = Object.entries(shape.shape).map(([name, part]) => [name, publish(part)] as const);
    return z.strictObject(Object.fromEntries(parts));
  }
  if (!(shape instanceof z.ZodType)) throw new TypeError('an unknown kind of shape');
  return shape;
}

const instant = z.iso.datetime();
const { count } = facts;
const names = z.array(z.string());
const level = z.enum(verdictLevels);
const severity = z.enum(severities);

const tallies = z.array(z.strictObject({ code: z.string(), count }));
const term = z.strictObject({ name: z.string(), count });
const states = z.array(z.strictObject({ code: z.enum(stateOrder), count }));

const run = z.strictObject({
  id: z.string(),
  kind: z.enum(runKinds),
  state: z.enum(runStates),
  stateReasons: names,
  organisation: z.string(),
  roster: z.string().nullable(),
  mode: z.enum(runModes),
  version: z.string(),
  startedAt: instant,
  finishedAt: instant,
  comparedWith: z.strictObject({ runId: z.string(), finishedAt: instant }).nullable(),
});

const coverage = z.strictObject({
  counts: publish(facts.runCountsSchema),
  sums: z.array(z.strictObject({ whole: term, parts: z.array(term) })),
  states: states.nullable(),
  failedBecause: tallies,
  skippedBecause: tallies,
});

const { inScope, planned, screened, reused, failed, skipped, remaining, searches } = facts.runCountsSchema.shape;
const spanCounts = { inScope, planned, screened, reused, failed, skipped, remaining, searches };

const span = z.strictObject({
  from: instant,
  until: instant,
  runs: z.array(
    z.strictObject({
      id: z.string(),
      kind: z.enum(runKinds),
      state: z.enum(runStates),
      level,
      trouble: z.string().nullable(),
      startedAt: instant,
      finishedAt: instant.nullable(),
      counts: z.strictObject(spanCounts).nullable(),
      notScreened: count.nullable(),
      changes: count,
      baseline: count,
    }),
  ),
  gaps: z.array(z.strictObject({ from: instant, until: instant, missed: count })),
  /** Restores of the database by which something of the span is missing. */
  restores: z.array(z.strictObject({ restoredAt: instant, backupAt: instant, lostRuns: names })),
});

const trendPoint = publish(
  facts.trendPointSchema.extend({ changesBySeverity: z.array(z.object({ code: severity, count })) }),
);

const held = z.strictObject({
  kind: z.enum(['answers', 'webhooks']),
  reasons: names,
  customers: count,
  states,
  accepted: z.array(publish(z.object({ isProposal: z.boolean(), ...facts.acceptanceSchema.shape }))),
});

const reconciliation = publish(
  sourceFacts.reconciliationSchema.extend({ news: z.array(sourceFacts.discrepancySchema) }),
);

const { changeId, runId, severity: rated, ...change } = facts.matchChangeSchema.omit({ isSanctionHit: true }).shape;

/** With `group`, the name of its group. */
const matchChange = publish(z.object({ changeId, runId, severity: rated, group: z.string().nullable(), ...change }));

// New reasons of doubts must not break readers.
const doubts = sourceFacts.columnDoubtsSchema.extend({
  field: z.string(),
  values: z.array(z.object({ value: z.string(), why: z.string(), rows: count })),
});

const fields = z.array(z.tuple([z.string(), z.string()]));

/** The parts of `report.json` about alerts, changes, customers and rows. */
const reportLists = {
  /** The alerts that waited when the run closed, in figures. */
  openAlerts: publish(facts.openAlertsSchema).nullable(),
  /** The first alerts that the answers opened or made more severe; empty for the first run of a roster. */
  newAlerts: z.array(
    z.strictObject({
      /** The alert code. */
      code: z.string(),
      news: z.enum(alertNews),
      severity,
      reference: z.string(),
      name: z.string(),
      listedName: z.string(),
      topics: names,
    }),
  ),
  /** The records fetched about new hits. A record belongs to the changes of its match id, and to those whose record names it. */
  details: z.strictObject({
    counts: publish(facts.detailCountsSchema).nullable(),
    records: z.array(publish(facts.detailLookupSchema)),
  }),
  groups: z.array(
    z.strictObject({
      name: z.string(),
      by: z.enum(['listed_party', 'kind_of_change']),
      severity,
      customers: count,
      changes: count,
    }),
  ),
  changes: z.array(matchChange).nullable(),
  baselineChanges: z.array(matchChange),
  dossierChanges: z.array(publish(sourceFacts.dossierChangeSchema)).nullable(),
  notScreened: z
    .array(
      publish(
        facts.notScreenedSchema.extend({
          // Null for an id without a readable record.
          party: facts.partySchema.extend({ type: facts.partySchema.shape.type.nullable() }),
        }),
      ),
    )
    .nullable(),
  droppedParties: z.array(publish(sourceFacts.droppedPartySchema)),
  rejects: z.array(publish(sourceFacts.rejectSchema.extend({ reason: z.string(), fields }))).nullable(),
  /** The first rows accepted with values in doubt. */
  doubted: z.array(
    publish(
      sourceFacts.doubtedRowSchema
        .omit({ isParty: true })
        .extend({ doubts: z.array(z.object({ column: z.string(), why: z.string() })), fields }),
    ),
  ),
};

/** `report.json`: the whole report, with texts unchanged. A part that the run does not have is null. */
export const reportJsonSchema = z.strictObject({
  schema: z.literal('nightscreen/report/2'),
  /** Set where names are initials. */
  masked: z.literal(true).optional(),
  run,
  /** The runs of a report over several runs; null for a report of one run. */
  span: span.nullable(),
  verdict: z.strictObject({
    level,
    short: z.string(),
    coverage: z.string(),
    /** The alerts that waited when the run closed, in one sentence. */
    waiting: z.string().nullable(),
    news: z.string(),
    remarks: names,
  }),
  settingsChanges: z.array(publish(facts.settingsChangeSchema)),
  rosterAcceptances: z.array(publish(sourceFacts.rosterAcceptanceSchema)),
  held: z.array(held),
  /** How imports changed the roster since the compared run, with a sentence for each mass; null where there are none. */
  rosterChanges: publish(sourceFacts.rosterChangesSchema.extend({ inBulk: names })).nullable(),
  coverage: coverage.nullable(),
  baseline: z.array(z.strictObject({ code: severity, count })),
  carriedFrom: z.array(z.strictObject({ runId: z.string(), changes: count, baseline: count })),
  calls: z.strictObject({ searches: count.nullable(), byOutcome: tallies, possiblyBilledTwice: count }),
  health: publish(facts.healthSchema).nullable(),
  settled: publish(facts.settledSchema).nullable(),
  /** The last 30 runs of the roster up to this one, oldest first. */
  trend: z.array(trendPoint),
  evidence: z.strictObject({
    settingsDigest: z.string(),
    cadence: publish(facts.cadenceSchema).nullable(),
    keyFingerprint: z.string(),
    packs: publish(facts.packsSchema),
    rosterSource: publish(sourceFacts.rosterSourceSchema.extend({ doubts: z.array(doubts) })).nullable(),
  }),
  controls: z.array(publish(facts.controlResultSchema)).nullable(),
  watch: publish(facts.watchSchema).nullable(),
  sweeps: z.array(publish(sourceFacts.sweepSchema)).nullable(),
  reconciliations: z.array(reconciliation),
  ...reportLists,
});
export type ReportJson = z.infer<typeof reportJsonSchema>;

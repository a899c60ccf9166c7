import { z } from 'zod';
import {
  cadenceSchema,
  controlResultSchema,
  controlRoundSchema,
  healthSchema,
  rateSchema,
  runCountsSchema,
  settingsChangeSchema,
  settledSchema,
} from '../vocabulary/facts.js';
import {
  columnDoubtsSchema,
  currentDiscrepanciesSchema,
  discrepancySchema,
  reconciliationSchema,
  reconciliationSumsSchema,
  rosterAcceptanceSchema,
  rosterChangeSchema,
  rosterSourceSchema,
  sweepSchema,
} from '../vocabulary/source-facts.js';
import { stateOrder } from '../vocabulary/words.js';
import { runKinds, runModes, runStates, severities } from '../vocabulary.js';
import { reportLists } from './report-json-lists.js';

const count = z.number().int().nonnegative();
const instant = z.iso.datetime();
const names = z.array(z.string());

const tallies = z.array(z.strictObject({ code: z.string(), count }));
const term = z.strictObject({ name: z.string(), count });

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
  counts: z.strictObject(runCountsSchema.shape),
  sums: z.array(z.strictObject({ whole: term, parts: z.array(term) })),
  states: z.array(z.strictObject({ code: z.enum(stateOrder), count })).nullable(),
  failedBecause: tallies,
  skippedBecause: tallies,
});

const recordJson = z.strictObject(rosterChangeSchema.shape.before.shape);

const accepted = {
  settingsChanges: z.array(z.strictObject({ ...settingsChangeSchema.shape, acceptedAt: instant })),
  rosterAcceptances: z.array(
    z.strictObject({
      ...rosterAcceptanceSchema.shape,
      heldBy: z.array(z.strictObject(rosterAcceptanceSchema.shape.heldBy.element.shape)),
      changes: z.array(z.strictObject({ reference: z.string(), before: recordJson, after: recordJson })),
      acceptedAt: instant,
    }),
  ),
};

const spanCounts = runCountsSchema.pick({
  inScope: true,
  planned: true,
  screened: true,
  reused: true,
  failed: true,
  skipped: true,
  remaining: true,
  searches: true,
});

const span = z.strictObject({
  from: instant,
  until: instant,
  runs: z.array(
    z.strictObject({
      id: z.string(),
      kind: z.enum(runKinds),
      state: z.enum(runStates),
      level: z.enum(['complete', 'partial', 'red']),
      trouble: z.string().nullable(),
      startedAt: instant,
      finishedAt: instant.nullable(),
      counts: z.strictObject(spanCounts.shape).nullable(),
      notScreened: count.nullable(),
      changes: count,
      baseline: count,
    }),
  ),
  gaps: z.array(z.strictObject({ from: instant, until: instant, missed: count })),
});

/** The health of the run, the decisions and the runs before it. */
const history = {
  health: z.strictObject(healthSchema.shape).nullable(),
  settled: z.strictObject(settledSchema.shape).nullable(),
  /** The last 30 runs of the roster up to this one, oldest first. */
  trend: z.array(
    z.strictObject({
      runId: z.string(),
      finishedAt: instant,
      seconds: count,
      searches: count,
      notScreened: count,
      hits: count,
      changes: count,
      changesBySeverity: z.array(z.strictObject({ code: z.enum(severities), count })).nullable(),
      waiting: count.nullable(),
    }),
  ),
};

const held = z.array(
  z.strictObject({
    kind: z.enum(['answers', 'webhooks']),
    reasons: names,
    customers: count,
    states: z.array(z.strictObject({ code: z.enum(stateOrder), count })),
    openedAlerts: count,
    alerts: z.array(
      z.strictObject({
        alertId: count,
        reference: z.string(),
        name: z.string(),
        severity: z.enum(severities),
        listedName: z.string(),
        topics: names,
      }),
    ),
    accepted: z.strictObject({ by: z.string(), isAttested: z.boolean(), reason: z.string(), at: instant }).nullable(),
  }),
);

const sweep = z.strictObject({ ...sweepSchema.shape, startedAt: instant, finishedAt: instant });

const reconciliation = z.strictObject({
  ...reconciliationSchema.omit({ current: true }).shape,
  reconciledAt: instant,
  sweptAt: instant,
  sums: z.strictObject(reconciliationSumsSchema.shape),
  standing: z.array(z.strictObject({ ...currentDiscrepanciesSchema.shape, oldestAt: instant })),
  news: z.array(z.strictObject({ ...discrepancySchema.shape, openedAt: instant })),
});

const controlRound = z.strictObject({
  ...controlRoundSchema.omit({ trigger: true }).shape,
  occasion: controlRoundSchema.shape.trigger,
  askedAt: instant,
});

const doubtedValue = columnDoubtsSchema.shape.values.element;
/** The codes of fields and doubts are open here: a later version may find more of them. */
const columnDoubts = z.strictObject({
  ...columnDoubtsSchema.shape,
  field: z.string(),
  values: z.array(z.strictObject({ ...doubtedValue.shape, why: z.string() })),
});

const rate = z.strictObject(rateSchema.shape);

const watch = z.strictObject({
  rates: z.strictObject({ matches: rate, hits: rate }).nullable(),
  listCap: z.strictObject({ length: count, standing: z.enum(['known', 'found', 'gone']), customers: count }).nullable(),
  volume: rate.nullable(),
});

/** `report.json`: the whole report, with texts unchanged. A part that the run does not have is null. */
export const reportJsonSchema = z.strictObject({
  schema: z.literal('nightscreen/report/2'),
  /** Set where names are initials. */
  masked: z.literal(true).optional(),
  run,
  /** The runs of a report over several runs; null for a report of one run. */
  span: span.nullable(),
  verdict: z.strictObject({
    level: z.enum(['complete', 'partial', 'red']),
    short: z.string(),
    coverage: z.string(),
    /** The alerts that waited when the run closed, in one sentence. */
    waiting: z.string().nullable(),
    news: z.string(),
    remarks: names,
  }),
  ...accepted,
  held,
  coverage: coverage.nullable(),
  baseline: z.array(z.strictObject({ code: z.enum(severities), count })),
  carriedFrom: z.array(z.strictObject({ runId: z.string(), changes: count, baseline: count })),
  calls: z.strictObject({ searches: count.nullable(), byOutcome: tallies, possiblyBilledTwice: count }),
  ...history,
  evidence: z.strictObject({
    settingsDigest: z.string(),
    cadence: z.strictObject(cadenceSchema.shape).nullable(),
    keyFingerprint: z.string(),
    rosterSource: z
      .strictObject({ ...rosterSourceSchema.shape, importedAt: instant, doubts: z.array(columnDoubts) })
      .nullable(),
  }),
  controls: z.array(z.strictObject({ ...controlResultSchema.shape, rounds: z.array(controlRound) })).nullable(),
  watch: watch.nullable(),
  sweeps: z.array(sweep).nullable(),
  reconciliations: z.array(reconciliation),
  ...reportLists,
});
export type ReportJson = z.infer<typeof reportJsonSchema>;

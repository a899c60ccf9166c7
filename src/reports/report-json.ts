import { z } from 'zod';
import {
  acceptanceSchema,
  cadenceSchema,
  changeAlertSchema,
  controlResultSchema,
  count,
  detailCountsSchema,
  detailLookupSchema,
  healthSchema,
  matchSchema,
  openAlertsSchema,
  partySchema,
  rateSchema,
  replacedSchema,
  runCountsSchema,
  settledSchema,
} from '../vocabulary/facts.js';
import {
  dossierChangeSchema,
  dossierSchema,
  fieldChangesSchema,
  reconciliationSumsSchema,
  rosterChangeSchema,
  rosterChangesSchema,
  snapshotSchema,
  sweepSchema,
} from '../vocabulary/source-facts.js';
import { stateOrder } from '../vocabulary/words.js';
import {
  agreements,
  alertNews,
  changeCauses,
  controlTriggers,
  discrepancyEvents,
  discrepancyKinds,
  discrepancySeverities,
  matchChangeKinds,
  matchFields,
  runKinds,
  runModes,
  runStates,
  severities,
  severityAdjustments,
} from '../vocabulary.js';

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

const acceptedBy = { ...acceptanceSchema.shape, acceptedAt: instant };

const recordJson = z.strictObject(rosterChangeSchema.shape.before.shape);

const accepted = {
  settingsChanges: z.array(z.strictObject({ differences: names, proposedBy: z.string().nullable(), ...acceptedBy })),
  rosterAcceptances: z.array(
    z.strictObject({
      heldBy: z.array(z.strictObject({ guard: z.string(), message: z.string() })),
      changes: z.array(z.strictObject({ reference: z.string(), before: recordJson, after: recordJson })),
      ...acceptedBy,
    }),
  ),
};

const fieldJson = fieldChangesSchema.shape;

const rosterChangesJson = z.strictObject({
  ...rosterChangesSchema.shape,
  /** A sentence for each mass among them. */
  inBulk: names,
  fields: z.array(z.strictObject({ ...fieldJson, ways: z.array(z.strictObject(fieldJson.ways.element.shape)) })),
});

const { inScope, planned, screened, reused, failed, skipped, remaining, searches } = runCountsSchema.shape;
const spanCounts = { inScope, planned, screened, reused, failed, skipped, remaining, searches };

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

/** The health of the run, the decisions and the runs before it. */
const history = {
  health: z
    .strictObject({
      ...healthSchema.shape,
      breaks: z.strictObject(healthSchema.shape.breaks.shape),
      cost: z.strictObject(healthSchema.shape.cost.unwrap().shape).nullable(),
    })
    .nullable(),
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
      changesBySeverity: z.array(z.strictObject({ code: z.enum(severities), count })),
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
    accepted: z.array(z.strictObject({ isProposal: z.boolean(), ...acceptedBy })),
  }),
);

const sweep = z.strictObject({ ...sweepSchema.shape, startedAt: instant, finishedAt: instant });

const severity = z.enum(discrepancySeverities);

const reconciliation = z.strictObject({
  roster: z.string(),
  reconciledAt: instant,
  sweptAt: instant,
  unprovenBecause: z.string().nullable(),
  sums: z.strictObject(reconciliationSumsSchema.shape),
  standing: z.array(
    z.strictObject({
      kind: z.enum(discrepancyKinds),
      severity,
      open: count,
      accepted: count,
      oldestAt: instant,
      overAWeek: count,
      overAMonth: count,
    }),
  ),
  invitations: z
    .strictObject({ byStatus: z.record(z.string(), count), excluded: z.record(z.string(), count) })
    .nullable(),
  news: z.array(
    z.strictObject({
      discrepancyId: count,
      event: z.enum(discrepancyEvents),
      kind: z.enum(discrepancyKinds),
      severity,
      facts: z.record(z.string(), z.unknown()),
      openedAt: instant,
    }),
  ),
  newsCount: count,
});

const controlRound = z.strictObject({
  round: count,
  occasion: z.enum(controlTriggers),
  searches: count,
  askedAt: instant,
  verdict: z.enum(['passed', 'failed']),
});

const rate = z.strictObject(rateSchema.shape);

const watch = z.strictObject({
  rates: z.strictObject({ matches: rate, hits: rate }).nullable(),
  listCap: z.strictObject({ length: count, standing: z.enum(['known', 'found', 'gone']), customers: count }).nullable(),
  volume: rate.nullable(),
});

const party = z.strictObject(partySchema.shape);

const match = z.strictObject(matchSchema.shape);

const dossier = z.strictObject(dossierSchema.shape);

/** The alert of a change when the run closed. */
const changeAlert = z.strictObject({
  ...changeAlertSchema.shape,
  openedAt: instant,
  dueAt: instant.nullable(),
  said: z.array(z.strictObject({ ...changeAlertSchema.shape.said.element.shape, saidAt: instant })),
  /** The last decision about a similar match that disappeared when this one appeared. */
  replaced: z.strictObject({ ...replacedSchema.shape, decidedAt: instant }).nullable(),
});

const matchChange = z.strictObject({
  changeId: count,
  /** The run that found it. */
  runId: z.string(),
  severity: z.enum(severities),
  /** The name of its group. */
  group: z.string().nullable(),
  kind: z.enum(matchChangeKinds),
  cause: z.enum(changeCauses),
  rule: z.string(),
  adjustments: z.array(z.enum(severityAdjustments)),
  corroboration: z.strictObject({ birthDate: z.enum(agreements), country: z.enum(agreements) }).nullable(),
  party,
  /** The party as it was at the former answer, where the record has changed. */
  formerParty: party.nullable(),
  matchId: z.string(),
  fields: z.array(z.enum(matchFields)),
  before: match.nullable(),
  after: match.nullable(),
  alert: changeAlert.nullable(),
});

const dossierChange = z.strictObject({
  ...dossierChangeSchema.shape,
  before: dossier.nullable(),
  after: dossier.nullable(),
});

/** The parts of `report.json` about alerts, changes, customers and rows. */
const reportLists = {
  /** The alerts that waited when the run closed, in figures. */
  openAlerts: z
    .strictObject({
      ...openAlertsSchema.shape,
      news: z.strictObject(openAlertsSchema.shape.news.shape),
      oldestAt: z.string().nullable(),
      bySeverity: z.array(z.strictObject(openAlertsSchema.shape.bySeverity.element.shape)),
      byAssignee: z.array(z.strictObject(openAlertsSchema.shape.byAssignee.element.shape)),
      byAge: z.strictObject(openAlertsSchema.shape.byAge.shape),
    })
    .nullable(),
  /** The first alerts that the answers opened or made more severe; empty for the first run of a roster. */
  newAlerts: z.array(
    z.strictObject({
      /** The alert code. */
      code: z.string(),
      news: z.enum(alertNews),
      severity: z.enum(severities),
      reference: z.string(),
      name: z.string(),
      listedName: z.string(),
      topics: names,
    }),
  ),
  /** The records fetched about new hits. A record belongs to the changes of its match id, and to those whose record names it. */
  details: z.strictObject({
    counts: z.strictObject(detailCountsSchema.shape).nullable(),
    records: z.array(z.strictObject({ ...detailLookupSchema.shape, askedAt: instant })),
  }),
  groups: z.array(
    z.strictObject({
      name: z.string(),
      by: z.enum(['listed_party', 'kind_of_change']),
      severity: z.enum(severities),
      customers: count,
      changes: count,
    }),
  ),
  changes: z.array(matchChange).nullable(),
  baselineChanges: z.array(matchChange),
  dossierChanges: z.array(dossierChange).nullable(),
  notScreened: z
    .array(
      z.strictObject({
        // Null for an id without a readable record.
        party: party.extend({ type: party.shape.type.nullable() }),
        outcome: z.enum(['failed', 'skipped', 'remaining']),
        reason: z.string(),
        lastScreenedAt: instant.nullable(),
      }),
    )
    .nullable(),
  droppedParties: z.array(
    z.strictObject({ party, state: z.enum(['open_alert', 'truncated', 'true_match']), droppedAt: instant }),
  ),
  rejects: z
    .array(
      z.strictObject({
        line: count,
        file: z.string().nullable(),
        column: z.string().nullable(),
        reason: z.string(),
        valueClass: z.string().nullable(),
        reference: z.string().nullable(),
        fields: z.array(z.tuple([z.string(), z.string()])),
      }),
    )
    .nullable(),
  /** The first rows accepted with values in doubt. */
  doubted: z.array(
    z.strictObject({
      line: count,
      file: z.string().nullable(),
      reference: z.string(),
      doubts: z.array(z.strictObject({ column: z.string(), why: z.string() })),
      fields: z.array(z.tuple([z.string(), z.string()])),
    }),
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
  /** How imports changed the roster since the compared run; null where there are none. */
  rosterChanges: rosterChangesJson.nullable(),
  coverage: coverage.nullable(),
  baseline: z.array(z.strictObject({ code: z.enum(severities), count })),
  carriedFrom: z.array(z.strictObject({ runId: z.string(), changes: count, baseline: count })),
  calls: z.strictObject({ searches: count.nullable(), byOutcome: tallies, possiblyBilledTwice: count }),
  ...history,
  evidence: z.strictObject({
    settingsDigest: z.string(),
    cadence: z
      .strictObject({ ...cadenceSchema.shape, hours: z.strictObject(cadenceSchema.shape.hours.shape) })
      .nullable(),
    keyFingerprint: z.string(),
    rosterSource: z
      .strictObject({
        source: z.string(),
        digest: z.string(),
        importedAt: instant,
        ...snapshotSchema.shape,
        doubts: z.array(
          z.strictObject({
            column: z.string(),
            field: z.string(),
            read: count,
            doubts: count,
            unknown: count,
            values: z.array(z.strictObject({ value: z.string(), why: z.string(), rows: count })),
          }),
        ),
      })
      .nullable(),
  }),
  controls: z
    .array(
      z.strictObject({
        ...controlResultSchema.shape,
        rounds: z.array(controlRound),
      }),
    )
    .nullable(),
  watch: watch.nullable(),
  sweeps: z.array(sweep).nullable(),
  reconciliations: z.array(reconciliation),
  ...reportLists,
});
export type ReportJson = z.infer<typeof reportJsonSchema>;

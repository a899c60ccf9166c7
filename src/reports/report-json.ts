import { z } from 'zod';
import { stateOrder } from '../vocabulary/words.js';
import {
  controlTriggers,
  discrepancyEvents,
  discrepancyKinds,
  discrepancySeverities,
  partyTypes,
  runKinds,
  runModes,
  runStates,
  severities,
} from '../vocabulary.js';
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
  counts: z.strictObject({
    rows: count,
    customers: count,
    rejected: count,
    duplicates: count,
    inScope: count,
    planned: count,
    screened: count,
    reused: count,
    failed: count,
    skipped: count,
    remaining: count,
    searches: count,
    attempts: count,
    matches: count,
    hits: count,
    changes: count,
  }),
  sums: z.array(z.strictObject({ whole: term, parts: z.array(term) })),
  states: z.array(z.strictObject({ code: z.enum(stateOrder), count })).nullable(),
  failedBecause: tallies,
  skippedBecause: tallies,
});

const acceptedBy = {
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: instant,
};

const recordJson = z.strictObject({
  name: z.string(),
  type: z.string(),
  birthDate: z.string().nullable(),
  countries: names,
  parties: names,
});

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
      counts: z
        .strictObject({
          inScope: count,
          planned: count,
          screened: count,
          reused: count,
          failed: count,
          skipped: count,
          remaining: count,
          searches: count,
        })
        .nullable(),
      notScreened: count.nullable(),
      changes: count,
      baseline: count,
    }),
  ),
  gaps: z.array(z.strictObject({ from: instant, until: instant, missed: count })),
});

/** The health of the run, the decisions and the runs before it. */
const history = {
  health: z
    .strictObject({
      perSecond: z.number().nullable(),
      limitPerSecond: z.number(),
      repeated: count,
      breaks: z.strictObject({ count, seconds: count, longestSeconds: count }),
      billable: count,
      cost: z.strictObject({ amount: z.number(), currency: z.string() }).nullable(),
    })
    .nullable(),
  settled: z
    .strictObject({
      falsePositive: count,
      trueMatch: count,
      inconclusive: count,
      carried: count,
      reopened: count,
      expired: count,
      gone: count,
    })
    .nullable(),
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

const sweep = z.strictObject({
  runId: z.string(),
  startedAt: instant,
  finishedAt: instant,
  isStart: z.boolean(),
  pages: count,
  dossiers: count,
  proven: z.boolean(),
  unprovenBecause: z.string().nullable(),
});

const severity = z.enum(discrepancySeverities);

const reconciliation = z.strictObject({
  roster: z.string(),
  reconciledAt: instant,
  sweptAt: instant,
  unprovenBecause: z.string().nullable(),
  sums: z.strictObject({
    customers: count,
    withDossier: count,
    withoutDossier: count,
    notExpected: count,
    ambiguousCustomers: count,
    notCompared: count,
    dossiers: count,
    withCustomer: count,
    withoutCustomer: count,
    ambiguousDossiers: count,
    ofOtherRosters: count,
  }),
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

const rate = z.strictObject({
  perThousand: z.number(),
  usual: z.number().nullable(),
  formerRuns: count,
  verdict: z.enum(['usual', 'low', 'high', 'unknown']),
});

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
    cadence: z
      .strictObject({
        hours: z.strictObject({ high: z.number(), medium: z.number(), low: z.number() }),
        reason: z.string().nullable(),
      })
      .nullable(),
    keyFingerprint: z.string(),
    rosterSource: z
      .strictObject({
        source: z.string(),
        digest: z.string(),
        importedAt: instant,
        isDelta: z.boolean(),
        joined: count,
        changed: count,
        absent: count,
        leavers: count,
        returned: count,
        conflicts: count,
        partyRows: count,
        partyRejected: count,
        otherRoles: count,
        unreadableIds: count,
        droppedParties: count,
        keptRecords: count,
        overriddenGuards: names,
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
        type: z.enum(partyTypes),
        name: z.string(),
        expect: z.enum(['match', 'none']),
        verdict: z.enum(['passed', 'failed']),
        found: z.string().nullable(),
        label: z.string().nullable(),
        topics: names,
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

import { z } from 'zod';
import {
  agreements,
  alertStates,
  changeCauses,
  detailStops,
  dispositionVerdicts,
  dossierChangeKinds,
  matchChangeKinds,
  matchFields,
  partyRoles,
  partyTypes,
  riskTiers,
  severities,
  severityAdjustments,
} from '../vocabulary.js';

const count = z.number().int().nonnegative();
const instant = z.iso.datetime();
const names = z.array(z.string());

const party = z.strictObject({
  reference: z.string(),
  role: z.enum(partyRoles),
  type: z.enum(partyTypes),
  name: z.string(),
  birthDate: z.string().nullable(),
  countries: names,
  riskTier: z.enum(riskTiers).nullable(),
});

const match = z.strictObject({
  rank: count,
  id: z.string(),
  name: z.string(),
  schema: z.string(),
  isHit: z.boolean(),
  score: z.number(),
  topics: names,
  birthDates: names,
  countries: names,
});

const dossier = z.strictObject({
  id: z.string(),
  token: z.string().nullable(),
  type: z.string(),
  status: z.string(),
  name: z.string().nullable(),
  reference: z.string().nullable(),
  riskScore: z.number().nullable(),
  isTest: z.boolean().nullable(),
  downloadStatus: z.string().nullable(),
  documentsCount: z.number().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  completedAt: z.string().nullable(),
});

/** The alert of a change when the run closed. */
const changeAlert = z.strictObject({
  state: z.enum(alertStates),
  openedAt: instant,
  dueAt: instant.nullable(),
  assignedTo: z.string().nullable(),
  reopenedBecause: names,
  said: z.array(
    z.strictObject({
      kind: z.enum(['decided', 'proposed', 'approved', 'undone']),
      verdict: z.enum(dispositionVerdicts).nullable(),
      reviewer: z.string(),
      isAttested: z.boolean(),
      reason: z.string(),
      saidAt: instant,
    }),
  ),
  /** The last decision about a similar match that disappeared when this one appeared. */
  replaced: z
    .strictObject({
      verdict: z.enum(dispositionVerdicts),
      reviewer: z.string(),
      reason: z.string(),
      decidedAt: instant,
      name: z.string(),
      matchId: z.string(),
    })
    .nullable(),
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
  changeId: count,
  kind: z.enum(dossierChangeKinds),
  dossierId: z.string(),
  customerKnown: z.boolean(),
  fields: names,
  before: dossier.nullable(),
  after: dossier.nullable(),
});

/** The parts of `report.json` about alerts, changes, customers and rows. */
export const reportLists = {
  /** The alerts that waited when the run closed, in figures. */
  openAlerts: z
    .strictObject({
      waiting: count,
      customers: count.nullable(),
      absent: count.nullable(),
      overdue: count,
      unassigned: count,
      proposed: count,
      oldestAt: z.string().nullable(),
      bySeverity: z.array(z.strictObject({ severity: z.enum(severities), waiting: count, overdue: count })),
      byAssignee: z.array(z.strictObject({ name: z.string(), waiting: count, overdue: count })),
      byAge: z.strictObject({ upToOneDay: count, upToOneWeek: count, upToThirtyDays: count, older: count }),
    })
    .nullable(),
  /** The records fetched about new hits. A record belongs to the changes of its match id, and to those whose record names it. */
  details: z.strictObject({
    counts: z
      .strictObject({
        hits: count,
        withoutRecord: count,
        asked: count,
        kept: count,
        notAvailable: count,
        leftOver: count,
        backlogAsked: count,
        backlogLeft: count,
        stoppedBecause: z.enum(detailStops).nullable(),
      })
      .nullable(),
    records: z.array(
      z.strictObject({
        kind: z.enum(['activity', 'entity']),
        id: z.string(),
        askedAt: instant,
        status: count.nullable(),
        reason: z.string().nullable(),
        digest: z.string().nullable(),
        withheldLinks: count,
        entityIds: names,
      }),
    ),
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

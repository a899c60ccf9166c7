import { z } from 'zod';
import {
  agreements,
  changeCauses,
  detailStops,
  dispositionVerdicts,
  dossierChangeKinds,
  itemStates,
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

/** Who a line of `report.json` is about. */
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

/** Who answers for an alert. */
const itemOwner = z.strictObject({ name: z.string(), standsInFor: z.string().nullable() });

/** How the item of a change stood when the run closed. */
const changeItem = z.strictObject({
  state: z.enum(itemStates),
  openedAt: instant,
  dueAt: instant.nullable(),
  owner: itemOwner.nullable(),
  reopenedBecause: names,
  said: z.array(
    z.strictObject({
      kind: z.enum(['decided', 'proposed', 'confirmed', 'undone']),
      verdict: z.enum(dispositionVerdicts).nullable(),
      reviewer: z.string(),
      isAttested: z.boolean(),
      reason: z.string(),
      saidAt: instant,
    }),
  ),
  /** The last decision about a like match that left the list when this one came. */
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

/** A change of a match. */
const matchChange = z.strictObject({
  changeId: count,
  /** The run that found it. */
  runId: z.string(),
  severity: z.enum(severities),
  /** The group of changes that it is one of. */
  group: z.string().nullable(),
  kind: z.enum(matchChangeKinds),
  cause: z.enum(changeCauses),
  rule: z.string(),
  adjustments: z.array(z.enum(severityAdjustments)),
  corroboration: z.strictObject({ birthDate: z.enum(agreements), country: z.enum(agreements) }).nullable(),
  party,
  /** As the record described the party beside which the answer before was given, where that is another record. */
  formerParty: party.nullable(),
  matchId: z.string(),
  fields: z.array(z.enum(matchFields)),
  before: match.nullable(),
  after: match.nullable(),
  item: changeItem.nullable(),
});

/** A change of a dossier. */
const dossierChange = z.strictObject({
  changeId: count,
  kind: z.enum(dossierChangeKinds),
  dossierId: z.string(),
  customerKnown: z.boolean(),
  fields: names,
  before: dossier.nullable(),
  after: dossier.nullable(),
});

/** The parts of `report.json` that list alerts, changes, rows and customers. */
export const reportLists = {
  /** What waited for reviewers when the run closed. */
  openItems: z
    .strictObject({
      waiting: count,
      customers: count.nullable(),
      absent: count.nullable(),
      overdue: count,
      unassigned: count,
      proposed: count,
      oldestAt: z.string().nullable(),
      bySeverity: z.array(z.strictObject({ severity: z.enum(severities), waiting: count, overdue: count })),
      byOwner: z.array(itemOwner.extend({ waiting: count, overdue: count })),
      byAge: z.strictObject({ upToOneDay: count, upToOneWeek: count, upToThirtyDays: count, older: count }),
    })
    .nullable(),
  /** What was fetched about new hits; a record belongs to the changes of its match id and of those that name it. */
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
        // Of an id without a readable record nothing else is known.
        party: party.extend({ type: party.shape.type.nullable() }),
        outcome: z.enum(['failed', 'skipped', 'remaining']),
        reason: z.string(),
        lastScreenedAt: instant.nullable(),
      }),
    )
    .nullable(),
  droppedParties: z.array(
    z.strictObject({ party, state: z.enum(['open_hit', 'incompletely_seen', 'confirmed']), droppedAt: instant }),
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
  /** The first rows that were accepted with values in doubt. */
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

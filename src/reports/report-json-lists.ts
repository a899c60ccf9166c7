import { z } from 'zod';
import {
  changeAlertSchema,
  corroborationSchema,
  detailCountsSchema,
  detailLookupSchema,
  matchChangeSchema,
  matchSchema,
  notScreenedSchema,
  openAlertsSchema,
  partySchema,
  replacedSchema,
} from '../vocabulary/facts.js';
import { dossierChangeSchema, dossierSchema, droppedPartySchema } from '../vocabulary/source-facts.js';
import { severities } from '../vocabulary.js';

const count = z.number().int().nonnegative();
const instant = z.iso.datetime();

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
  ...matchChangeSchema.omit({ isSanctionHit: true }).shape,
  /** The name of its group. */
  group: z.string().nullable(),
  corroboration: z.strictObject(corroborationSchema.shape).nullable(),
  party,
  formerParty: party.nullable(),
  before: match.nullable(),
  after: match.nullable(),
  alert: changeAlert.nullable(),
});

const dossierChange = z.strictObject({
  ...dossierChangeSchema.shape,
  before: dossier.nullable(),
  after: dossier.nullable(),
});

const openAlertsShape = openAlertsSchema.shape;

/** The parts of `report.json` about alerts, changes, customers and rows. */
export const reportLists = {
  /** The alerts that waited when the run closed, in figures. */
  openAlerts: z
    .strictObject({
      ...openAlertsShape,
      oldestAt: z.string().nullable(),
      bySeverity: z.array(z.strictObject(openAlertsShape.bySeverity.element.shape)),
      byAssignee: z.array(z.strictObject(openAlertsShape.byAssignee.element.shape)),
      byAge: z.strictObject(openAlertsShape.byAge.shape),
    })
    .nullable(),
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
        ...notScreenedSchema.shape,
        // Null for an id without a readable record.
        party: party.extend({ type: party.shape.type.nullable() }),
        lastScreenedAt: instant.nullable(),
      }),
    )
    .nullable(),
  droppedParties: z.array(z.strictObject({ ...droppedPartySchema.shape, party, droppedAt: instant })),
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

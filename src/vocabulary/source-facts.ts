// The shapes of the facts about rosters, dossiers and their comparison, which the database stores and reports show; each is defined here only.
import { z } from 'zod';
import * as codes from '../vocabulary.js';
import { acceptanceSchema, count, instant, partySchema, texts } from './facts.js';

/** A dossier of the service's list (interface: Dossier summary); absent values are null. */
export const dossierSchema = z.object({
  id: z.string(),
  token: z.string().nullable(),
  type: z.string(),
  /** One of the interface's business states, or an unknown one. */
  status: z.string(),
  name: z.string().nullable(),
  /** The customer reference. */
  reference: z.string().nullable(),
  riskScore: z.number().nullable(),
  isTest: z.boolean().nullable(),
  downloadStatus: z.string().nullable(),
  documentsCount: z.number().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  completedAt: z.string().nullable(),
});

/** One stored dossier change. */
export const dossierChangeSchema = z.object({
  changeId: count,
  kind: z.enum(codes.dossierChangeKinds),
  dossierId: z.string(),
  /** Whether the dossier's reference names a customer of the roster. */
  customerKnown: z.boolean(),
  fields: texts,
  before: dossierSchema.nullable(),
  after: dossierSchema.nullable(),
});

/** A sweep that the report covers. */
export const sweepSchema = z.object({
  runId: z.string(),
  startedAt: instant,
  finishedAt: instant,
  /** The first sweep of the account: it is the starting point and has no changes. */
  isStart: z.boolean(),
  pages: count,
  dossiers: count,
  /** False: no dossier is reported as gone, for the reason `unprovenBecause`. */
  proven: z.boolean(),
  unprovenBecause: z.string().nullable(),
});

/** A party that is no longer in the roster's source although its last state is not resolved. */
export const droppedPartySchema = z.object({
  party: partySchema,
  /** Its state when it was dropped. The party stays in scope while its state is an open alert or one of its alerts waits. */
  state: z.enum(['open_alert', 'truncated', 'true_match']),
  droppedAt: instant,
});

/** The record of a customer, stored or in a roster. */
const customerRecordSchema = z.object({
  name: z.string(),
  type: z.string(),
  birthDate: z.string().nullable(),
  countries: texts,
  /** Aliases and related parties, as `role: name`. */
  parties: texts,
});

/** A change of a known customer that triggered a guard. */
export const rosterChangeSchema = z.object({
  reference: z.string(),
  before: customerRecordSchema,
  after: customerRecordSchema,
});

/** A roster that a person accepted although guards held it. */
export const rosterAcceptanceSchema = z.object({
  /** Each guard with its finding, in words with both figures. */
  heldBy: z.array(z.object({ guard: z.string(), message: z.string() })),
  /** The first of the changes. */
  changes: z.array(rosterChangeSchema),
  ...acceptanceSchema.shape,
});

/** The doubts about a column of a source. */
export const columnDoubtsSchema = z.object({
  column: z.string(),
  field: z.enum(codes.doubtFields),
  /** Rows whose value was read. */
  read: count,
  /** Rows whose value is in doubt. */
  doubts: count,
  /** Rows in doubt whose value states that it is unknown. */
  unknown: count,
  /** The most frequent values in doubt; of names only the reasons, with an empty value. */
  values: z.array(z.object({ value: z.string(), why: z.enum(codes.doubtReasons), rows: count })),
});

/** The changed values of a field, those of related parties included, and what some of them have in common. */
export const fieldChangesSchema = z.object({
  field: z.enum(codes.recordFields),
  values: count,
  /** `value` of `same_value`: the new one; null for a name. */
  ways: z.array(z.object({ way: z.enum(codes.changeWays), value: z.string().nullable(), values: count })),
});

/** How imports changed a roster, first imports not included. */
export const rosterChangesSchema = z.object({
  /** Customers before the first of them. */
  known: count,
  joined: count,
  /** Customers that the source no longer shows. */
  missing: count,
  offboarded: count,
  returned: count,
  /** Paths of the settings that read facts in another way than the import before. */
  reread: texts,
  fields: z.array(fieldChangesSchema),
});

/** The result of a roster import. */
export const snapshotSchema = z.object({
  /** The source was a part of the roster: absence in it means nothing. */
  isDelta: z.boolean(),
  joined: count,
  changed: count,
  absent: count,
  leavers: count,
  returned: count,
  /** Ids whose rows contradict each other; every name in them is searched for. */
  conflicts: count,
  partyRows: count,
  partyRejected: count,
  /** Related parties with an unknown role, screened as `other`. */
  otherRoles: count,
  /** Rejected rows without a readable customer id, those of related parties included. */
  unreadableIds: count,
  /** Parties with an open alert, a true match or a truncated list that are no longer in the source. */
  droppedParties: count,
  /** Known customers whose rows were rejected: their last accepted records stay in force. */
  keptRecords: count,
  /** The guards that a person overrode. */
  overriddenGuards: texts,
  /** Paths of the settings that read facts in another way than the import before. */
  reread: texts,
  /** The columns with values in doubt, which count as unknown. */
  doubts: z.array(columnDoubtsSchema),
});

/** The source of an imported roster, the digest of its bytes, and the result of the import. */
export const rosterSourceSchema = snapshotSchema.extend({
  source: z.string(),
  digest: z.string(),
  importedAt: instant,
});

/** A rejected row, with everything that is needed to correct and re-import it. */
export const rejectSchema = z.object({
  /** Physical line on which the row begins, from 1 (the header is 1); for a query, the ordinal of the row. */
  line: count,
  /** The file of the row when a roster has several, or the source of related parties; null otherwise. */
  file: z.string().nullable(),
  /** The source's column at fault; null when there is none. */
  column: z.string().nullable(),
  reason: z.enum(codes.rejectReasons),
  /** The kind of the value at fault without the value, such as `empty`, `digits, 8 characters`, `control character U+0000`. */
  valueClass: z.string().nullable(),
  /** The customer id if the row shows one; it keeps a known customer in scope. */
  reference: z.string().nullable(),
  /** The row's fields under the source's own headers. */
  fields: z.record(z.string(), z.string()),
});

/** An accepted row with a value in doubt, with everything that is needed to correct and re-import it. */
export const doubtedRowSchema = z.object({
  line: count,
  file: z.string().nullable(),
  reference: z.string(),
  doubts: z.array(z.object({ column: z.string(), why: z.enum(codes.doubtReasons) })),
  /** The row's fields under the source's own headers. */
  fields: z.record(z.string(), z.string()),
  /** Whether it is a row of a source of related parties. */
  isParty: z.boolean(),
});

/** The counts of a comparison. Every customer and every dossier has one place; the run fails unless both sums balance. */
export const reconciliationSumsSchema = z.object({
  customers: count,
  withDossier: count,
  withoutDossier: count,
  /** Without a dossier, and none is expected. */
  notExpected: count,
  /** Customers that share a reference. */
  ambiguousCustomers: count,
  /** Customers with a dossier whose birth date and country were not compared, because no record of an applicant was fetched. */
  notCompared: count,
  dossiers: count,
  withCustomer: count,
  withoutCustomer: count,
  ambiguousDossiers: count,
  /** Dossiers of customers of another roster. */
  ofOtherRosters: count,
});

/** A discrepancy in a report. */
export const discrepancySchema = z.object({
  discrepancyId: count,
  event: z.enum(codes.discrepancyEvents),
  kind: z.enum(codes.discrepancyKinds),
  severity: z.enum(codes.discrepancySeverities),
  /** The facts that disagree, by name, with references, names and dossiers. */
  facts: z.record(z.string(), z.unknown()),
  openedAt: instant,
});

/** The number of current discrepancies of one kind and severity. */
export const currentDiscrepanciesSchema = z.object({
  kind: z.enum(codes.discrepancyKinds),
  severity: z.enum(codes.discrepancySeverities),
  open: count,
  accepted: count,
  oldestAt: instant,
  overAWeek: count,
  overAMonth: count,
});

/** An open or accepted discrepancy in a list for reviewers. */
export const listedDiscrepancySchema = z.object({
  roster: z.string(),
  ...discrepancySchema.pick({ kind: true, severity: true, facts: true, openedAt: true }).shape,
  /** The number of comparisons that have found it since then. */
  seen: count,
  /** Its acceptance, or the proposal that a second person must confirm; `until` as yyyy-mm-dd. */
  acceptance: z
    .object({ isFinal: z.boolean(), reviewer: z.string(), reason: z.string(), until: z.string() })
    .nullable(),
});

/** A comparison of a roster with the dossiers in a report, without its discrepancies. */
export const reconciliationSchema = z.object({
  roster: z.string(),
  reconciledAt: instant,
  sweptAt: instant,
  unprovenBecause: z.string().nullable(),
  sums: reconciliationSumsSchema,
  standing: z.array(currentDiscrepanciesSchema),
  /**
   * The number of invitations by status, and of customers without a dossier that are not invited by reason. For reviewers only; null for a
   * roster without invitations.
   */
  invitations: z.object({ byStatus: z.record(z.string(), count), excluded: z.record(z.string(), count) }).nullable(),
  newsCount: count,
});

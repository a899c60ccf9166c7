// The shapes of the facts that the database stores and that reports show; each is defined here only.
import { z } from 'zod';
import * as codes from '../vocabulary.js';

/** What readers of facts may do with them: nobody changes them. */
type Fixed<Value> = Value extends Date | ReadonlyMap<unknown, unknown>
  ? Value
  : Value extends readonly (infer One)[]
    ? readonly Fixed<One>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Fixed<Value[Name]> }
      : Value;
/** The facts of a shape. */
export type FactsOf<Shape extends z.ZodType> = Fixed<z.infer<Shape>>;

export const count = z.number().int().nonnegative();
export const texts = z.array(z.string());
/** A time of the database: a date in a column, a text within JSON. */
export const instant = z.preprocess((value) => (typeof value === 'string' ? new Date(value) : value), z.date());

/** The counts of a run, named as in the run summary; they count customers unless the name says otherwise. */
export const runCountsSchema = z.object({
  rows: count,
  customers: count,
  rejected: count,
  duplicates: count,
  /** The customers that the run has to screen or skip. */
  inScope: count,
  planned: count,
  screened: count,
  reused: count,
  failed: count,
  skipped: count,
  remaining: count,
  /** Distinct requests, control searches not included. */
  searches: count,
  /** Every POST sent, control searches and repeats included. */
  attempts: count,
  matches: count,
  hits: count,
  /** Changes since the last report, first screenings not included. */
  changes: count,
});
type CountName = keyof typeof runCountsSchema.shape;

/** The sums of counts that hold in every run that is reported. The database checks them as well (`run_sums_hold`, `run_balance`). */
export const countSums = [
  { whole: 'rows', parts: ['customers', 'rejected', 'duplicates'] },
  { whole: 'inScope', parts: ['planned', 'skipped'] },
  { whole: 'planned', parts: ['screened', 'reused', 'failed', 'remaining'] },
] as const satisfies readonly { whole: CountName; parts: readonly CountName[] }[];
type SummedName = (typeof countSums)[number]['whole'] | (typeof countSums)[number]['parts'][number];

/** These sums with the counts of a run, in the same order. */
export function listCountSums(counts: Readonly<Record<SummedName, number>>) {
  const toTerm = (code: SummedName) => ({ code, name: code === 'inScope' ? 'in scope' : code, count: counts[code] });
  return countSums.map(({ whole, parts }) => ({ whole: toTerm(whole), parts: parts.map(toTerm) }));
}

/** Customers by state. */
export const stateCountsSchema = z.record(z.enum(codes.customerStates), count);
/** Changes by severity. */
export const severityCountsSchema = z.record(z.enum(codes.severities), count);

/** One entry of `results` as the service sent it (interface: AML search result); `rank` starts at 1. */
export const matchSchema = z.object({
  rank: count,
  id: z.string(),
  name: z.string(),
  schema: z.string(),
  /** The service flagged it with `match: true`. */
  isHit: z.boolean(),
  /** The service's score, unchanged. */
  score: z.number(),
  topics: texts,
  birthDates: texts,
  /** Lower-case country codes. */
  countries: texts,
});

/** The party of a line of the report. */
export const partySchema = z.object({
  reference: z.string(),
  role: z.enum(codes.partyRoles),
  type: z.enum(codes.partyTypes),
  name: z.string(),
  birthDate: z.string().nullable(),
  countries: texts,
  riskTier: z.enum(codes.riskTiers).nullable(),
});

/** The customer as a disposition is bound to them. */
export const seenCustomerSchema = partySchema.omit({ reference: true, riskTier: true });

/**
 * The facts that a disposition is bound to: those of the listed party and of the customer, normalised. Score, rank, risk tier, match id and
 * the hit flag are excluded, because they do not identify a person.
 */
export const seenFactsSchema = z.object({
  listed: z.object({ schema: z.string(), name: z.string(), topics: texts, birthDates: texts, countries: texts }),
  customer: seenCustomerSchema,
});

/** The facts of a party outside its request, with the source text of converted or doubtful ones. */
export const partySaidSchema = z.object({
  birthDate: z.string().nullable(),
  countries: texts,
  riskTier: z.enum(codes.riskTiers).nullable(),
  doubts: z.record(z.string(), z.string()),
  said: z.record(z.string(), z.string()),
});

/** How far a customer's facts agree with a match, apart from the service's score. */
export const corroborationSchema = z.object({ birthDate: z.enum(codes.agreements), country: z.enum(codes.agreements) });

const decision = { reviewer: z.string(), reason: z.string(), decidedAt: instant };

/** The last decision on a similar match that disappeared when the match of the alert appeared: it may be the same party with another id. */
export const replacedSchema = z.object({
  verdict: z.enum(codes.dispositionVerdicts),
  ...decision,
  /** Of the former match. */
  name: z.string(),
  matchId: z.string(),
});

/** The alert of a change when the run closed. */
export const changeAlertSchema = z.object({
  state: z.enum(codes.alertStates),
  openedAt: instant,
  dueAt: instant.nullable(),
  assignedTo: z.string().nullable(),
  /** Why it was last re-opened; empty for an alert that never was. */
  reopenedBecause: texts,
  /** Its last decisions and their confirmations, newest first. */
  said: z.array(
    z.object({
      kind: z.enum(['decided', 'proposed', 'approved', 'undone']),
      /** Null for `undone`. */
      verdict: z.enum(codes.dispositionVerdicts).nullable(),
      reviewer: z.string(),
      isAttested: z.boolean(),
      reason: z.string(),
      saidAt: instant,
    }),
  ),
  replaced: replacedSchema.nullable(),
});

/** One stored change event of the run. */
export const matchChangeSchema = z.object({
  changeId: count,
  /** The run that found it. */
  runId: z.string(),
  severity: z.enum(codes.severities),
  kind: z.enum(codes.matchChangeKinds),
  cause: z.enum(codes.changeCauses),
  rule: z.string(),
  adjustments: z.array(z.enum(codes.severityAdjustments)),
  /** Whether the customer's facts agree with the match; null for changes of versions that did not compare them. */
  corroboration: corroborationSchema.nullable(),
  party: partySchema,
  /** The party as it was at the former answer; null where the record is the same or unknown. */
  formerParty: partySchema.nullable(),
  /** Whether the match is, or was, a hit for a sanction: such a change is never grouped with similar ones. */
  isSanctionHit: z.boolean(),
  matchId: z.string(),
  fields: z.array(z.enum(codes.matchFields)),
  before: matchSchema.nullable(),
  after: matchSchema.nullable(),
  /** Its alert when the run closed; null where it has none, for first screenings and for runs that have not closed. */
  alert: changeAlertSchema.nullable(),
});

/** A waiting alert, as it is stored for a working list. */
export const waitingAlertSchema = z.object({
  /** Of the account of the alert. */
  mode: z.enum(codes.runModes),
  party: partySchema,
  listed: matchSchema,
  severity: z.enum(codes.severities),
  rule: z.string(),
  priority: z.number(),
  openedAt: instant,
  dueAt: instant.nullable(),
  /** `pending_approval` waits for a second person. */
  state: z.enum(['open', 'pending_approval']),
  /** Why its match is absent: it waits to be confirmed as no longer matched. Null while the match is a hit. */
  absence: z.enum(codes.absences).nullable(),
  absentSince: instant.nullable(),
  assignedTo: z.string().nullable(),
  /** The decision that waits for a second person. */
  proposal: z.object({ verdict: z.enum(codes.dispositionVerdicts), ...decision }).nullable(),
  /** Why it was re-opened; empty for an alert that was never decided. */
  reopenedBecause: texts,
  /** The last decision, in force or not; of a re-opened alert the one before the re-opening. */
  lastDecision: z.object({ verdict: z.string(), ...decision }).nullable(),
  replaced: replacedSchema.nullable(),
  /** The decision of an older system; `isSample` where it does not count as one, so that a reviewer decides as a spot check. */
  legacy: z.object({ verdict: z.string(), ...decision, decidedAt: z.string(), isSample: z.boolean() }).nullable(),
});

/** The alerts that waited for a decision when the run closed, in figures. */
export const openAlertsSchema = z.object({
  /** All, pending approvals included. */
  waiting: count,
  customers: count,
  /** Alerts without a current match, to be confirmed as no longer matched. */
  absent: count,
  overdue: count,
  unassigned: count,
  proposed: count,
  /** When the oldest was opened; null where none waits. */
  oldestAt: instant.nullable(),
  /** What the run did: its answers opened `alerts` or made them more severe; dispositions that expired opened others. */
  news: z.object({ alerts: count, sanctionHits: count, expired: count }),
  /** Only severities that occur, most severe first. */
  bySeverity: z.array(z.object({ severity: z.enum(codes.severities), waiting: count, overdue: count })),
  /** By owner, those with most first; unassigned alerts are not included. */
  byAssignee: z.array(z.object({ name: z.string(), waiting: count, overdue: count })),
  byAge: z.object({ upToOneDay: count, upToOneWeek: count, upToThirtyDays: count, older: count }),
});

/** The decided alerts when the run closed, and what the run did with decisions. */
export const settledSchema = z.object({
  falsePositive: count,
  trueMatch: count,
  /** They still wait. */
  inconclusive: count,
  /** Final decisions on parties of this run that stay in force. */
  carried: count,
  /** Re-opened by this run because of a material change or a returned match. */
  reopened: count,
  /** Open again by this run because the decision expired, also of an absent match. */
  expired: count,
  /** Alerts whose match is no longer listed since this run. */
  gone: count,
});

/** A party in scope without a valid screening. */
export const notScreenedSchema = z.object({
  party: partySchema,
  outcome: z.enum(codes.listableOutcomes),
  /** The stable code of the error or of the skip. */
  reason: z.string(),
  lastScreenedAt: instant.nullable(),
});

/** One control search as it was sent. */
export const controlRoundSchema = z.object({
  /** The number of the round, from 1. */
  round: count,
  occasion: z.enum(codes.controlTriggers),
  /** Searches of the plan that had an answer by then. */
  searches: count,
  askedAt: instant,
  verdict: z.enum(['passed', 'failed']),
});

/** The chain of evidence before the packs of a run. */
export const packsSchema = z.object({
  /** False where the settings of the run turn evidence off. */
  areWritten: z.boolean(),
  /** The last pack before: its place in the chain, and the SHA-256 (hex) of its manifest. Null for the first pack. */
  before: z.object({ sequence: z.number(), sha256: z.string() }).nullable(),
});

/** A control search: a search whose answer is known. */
export const controlResultSchema = z.object({
  type: z.enum(codes.partyTypes),
  name: z.string(),
  expect: z.enum(['match', 'none']),
  verdict: z.enum(['passed', 'failed']),
  /** The actual answer of the first failed round, in words; null when all passed. */
  found: z.string().nullable(),
  /** A name for it in reports. */
  label: z.string().nullable(),
  /** A hit must have one of them; empty where any hit is enough. */
  topics: texts,
  /** Each time it was sent, in order; its verdict is the worst of them. */
  rounds: z.array(controlRoundSchema),
});

/** One record that a run requested. */
export const detailLookupSchema = z.object({
  /** One match, or the screened record that matches belong to (interface: Single-record lookups). */
  kind: z.enum(['activity', 'entity']),
  id: z.string(),
  askedAt: instant,
  status: count.nullable(),
  /** The stable code of the failure; null where the record is kept. */
  reason: z.string().nullable(),
  /** SHA-256 (hex) of the body as received; null where the record is not kept. */
  digest: z.string().nullable(),
  /** The number of links removed from the kept record because they give access by themselves. */
  withheldLinks: count,
  entityIds: texts,
});

/** The records about new hits that a run had to fetch, in counts: `asked` includes `backlogAsked`, `leftOver` excludes `backlogLeft`. */
export const detailCountsSchema = z.object({
  /** Distinct matches that became hits in the run. */
  hits: count,
  /** Hits whose id has no form that can be looked up. */
  withoutRecord: count,
  asked: count,
  kept: count,
  notAvailable: count,
  /** Records of these hits that were not requested, for the reason `stoppedBecause`. */
  leftOver: count,
  /** Requested records that earlier runs had left over. */
  backlogAsked: count,
  /** Records that earlier runs had left over and that are still missing. */
  backlogLeft: count,
  stoppedBecause: z.enum(codes.detailStops).nullable(),
});

/** A rate per 1,000 and the median of former runs; `unknown` with too few runs to compare. */
export const rateSchema = z.object({
  perThousand: z.number(),
  usual: z.number().nullable(),
  formerRuns: count,
  verdict: z.enum(['usual', 'low', 'high', 'unknown']),
});

/** The rates of a run's answers, compared with former runs. */
export const watchSchema = z.object({
  /** Null where the run was not assessed: it stopped early, or control searches failed. */
  rates: z.object({ matches: rateSchema, hits: rateSchema }).nullable(),
  /** A length at which the service seems to truncate lists silently, or did, and the number of customers with a list of that length. */
  listCap: z.object({ length: count, standing: z.enum(['known', 'found', 'gone']), customers: count }).nullable(),
  /** Changes of the service's data per 1,000 searches for customers screened before; null where the run was not assessed. */
  volume: rateSchema.nullable(),
});

/** One of the last runs of a roster, in figures. */
export const trendPointSchema = z.object({
  runId: z.string(),
  finishedAt: instant,
  seconds: count,
  searches: count,
  notScreened: count,
  hits: count,
  changes: count,
  changesBySeverity: severityCountsSchema,
  /** Alerts that waited for a decision when the run closed; null where they were not counted. */
  waiting: count.nullable(),
});

/** The health of a run's calls. */
export const healthSchema = z.object({
  /** Calls per second without the breaks; null with fewer than two calls. */
  perSecond: z.number().nullable(),
  limitPerSecond: z.number(),
  /** Calls that repeat one without an answer. */
  repeated: count,
  /** Times of more than a minute without a call: outages, pauses requested by the service, stops before a resume. */
  breaks: z.object({ count, seconds: count, longestSeconds: count }),
  /** Calls that the service may have billed. */
  billable: count,
  /** Null without a price in the settings. */
  cost: z.object({ amount: z.number(), currency: z.string() }).nullable(),
});

/** The screening frequency by risk tier, in hours, and its reason where it is less than daily. */
export const cadenceSchema = z.object({
  hours: z.object({ high: z.number(), medium: z.number(), low: z.number() }),
  reason: z.string().nullable(),
});

/** Who has accepted something, and why. */
export const acceptanceSchema = z.object({
  acceptedBy: z.string(),
  /** True where the name is only stated, not verified by a login. */
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: instant,
});

/** One restore of a backup into the database. */
export const restorationSchema = z.object({
  restoredAt: z.date(),
  /** When the backup was written: nothing that happened between both times is in the database. */
  backupAt: z.date(),
  /** The runs in between that left a folder of reports. */
  lostRuns: texts,
});

/** An accepted change of settings that affect results. */
export const settingsChangeSchema = z.object({
  /** Each setting with its old and new value, in words. */
  differences: texts,
  /** Who accepted them first, where two people were needed. */
  proposedBy: z.string().nullable(),
  ...acceptanceSchema.shape,
});

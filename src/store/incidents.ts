import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** What a watchdog can find: a job that did not begin, a run that goes no further, one that left something undone, and so on. */
export const incidentKinds = [
  'did_not_run',
  'stuck',
  'partial',
  'customers_failing',
  'canary_failed',
  'screening_overdue',
  'job_failed',
  'job_stuck',
] as const;
export type IncidentKind = (typeof incidentKinds)[number];

/** What is told of an incident that is not over. */
export interface IncidentTelling {
  kind: IncidentKind;
  /** A roster, or `sweep`; of a run that is stuck, the run; of a job, its name. A roster may be called as a job is. */
  subject: string;
  /** Null for what concerns no single roster. */
  roster: string | null;
  /** In words, without personal data. */
  reason: string;
  /** As long as it is the same, there is nothing new to tell. */
  mark: string;
  /** The newest run that was looked at. */
  runId: number | null;
}

/** An incident as it is stored. */
export interface Incident extends IncidentTelling {
  incidentId: number;
  openedAt: Date;
  toldAt: Date;
  timesTold: number;
  recoveredAt: Date | null;
}

const incidentRow = z.object({
  incidentId: z.number(),
  kind: z.enum(incidentKinds),
  subject: z.string(),
  roster: z.string().nullable(),
  reason: z.string(),
  mark: z.string(),
  runId: z.number().nullable(),
  openedAt: z.date(),
  toldAt: z.date(),
  timesTold: z.number(),
  recoveredAt: z.date().nullable(),
}) satisfies z.ZodType<Incident>;

const incidentColumns = `incident_id as "incidentId", kind, subject, roster, reason, mark, run_id as "runId", opened_at as "openedAt",
  told_at as "toldAt", times_told as "timesTold", recovered_at as "recoveredAt"`;

/** Makes watchdogs that look at the same time tell one after the other, until the transaction ends. */
export async function holdIncidents(transaction: Queryable, organisationId: number): Promise<void> {
  await transaction.execute('select from organisation where organisation_id = $1 for no key update', [organisationId]);
}

/** The incidents that are not over, oldest first. */
export async function readOpenIncidents(database: Queryable, organisationId: number): Promise<readonly Incident[]> {
  return database.query(
    incidentRow,
    `select ${incidentColumns} from incident where organisation_id = $1 and recovered_at is null order by incident_id`,
    [organisationId],
  );
}

/** Stores a new incident; throws DatabaseError when one of the kind is open for the subject and roster already. */
export async function openIncident(
  transaction: Queryable,
  organisationId: number,
  { kind, subject, roster, reason, mark, runId }: IncidentTelling,
  now: Date,
): Promise<Incident> {
  const rows = await transaction.query(
    incidentRow,
    `insert into incident (organisation_id, kind, subject, roster, reason, mark, run_id, opened_at, told_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8)
     returning ${incidentColumns}`,
    [organisationId, kind, subject, roster, reason, mark, runId, now],
  );
  return firstRow(rows, 'incident');
}

/** Notes that something new of an open incident is told. */
export async function noteToldAgain(
  transaction: Queryable,
  incidentId: number,
  { reason, mark, runId }: IncidentTelling,
  now: Date,
): Promise<Incident> {
  const rows = await transaction.query(
    incidentRow,
    `update incident set reason = $2, mark = $3, run_id = $4, told_at = greatest(told_at, $5::timestamptz), times_told = times_told + 1
     where incident_id = $1
     returning ${incidentColumns}`,
    [incidentId, reason, mark, runId, now],
  );
  return firstRow(rows, 'incident');
}

/** Notes that an incident is over, or (`isDropped`) that nobody watches its subject any more. */
export async function closeIncident(
  transaction: Queryable,
  incidentId: number,
  { now, isDropped }: { now: Date; isDropped: boolean },
): Promise<Incident> {
  const rows = await transaction.query(
    incidentRow,
    `update incident set recovered_at = greatest(told_at, $2::timestamptz), is_dropped = $3 where incident_id = $1
     returning ${incidentColumns}`,
    [incidentId, now, isDropped],
  );
  return firstRow(rows, 'incident');
}

import { z } from 'zod';
import { discrepancyWords } from '../vocabulary/discrepancies.js';
import type { FactsOf } from '../vocabulary/facts.js';
import type {
  currentDiscrepanciesSchema,
  discrepancySchema,
  listedDiscrepancySchema,
  reconciliationSchema,
  reconciliationSumsSchema,
} from '../vocabulary/source-facts.js';
import { type DiscrepancySeverity, discrepancyKinds } from '../vocabulary.js';

const configurable = discrepancyKinds.filter((kind) => !('isFixed' in discrepancyWords[kind]));

/** How rosters, screenings and dossiers are compared. */
export const reconciliationSettingsSchema = z.strictObject({
  severity: z
    .partialRecord(z.enum(configurable), z.enum(['high', 'medium', 'low']))
    .default({})
    .describe('your severities by kind of discrepancy; critical ones, conflicts of names and rejections are fixed'),
});
export type ReconciliationSettings = z.infer<typeof reconciliationSettingsSchema>;

/** The severity of each kind under the settings. */
export const toSeverities = ({ severity }: ReconciliationSettings): Readonly<Record<string, DiscrepancySeverity>> => ({
  ...Object.fromEntries(discrepancyKinds.map((kind) => [kind, discrepancyWords[kind].severity])),
  ...severity,
});

/** The counts of a comparison. Every customer and every dossier has one place; the run fails unless both sums balance. */
export type ReconciliationSums = FactsOf<typeof reconciliationSumsSchema>;

/** Describes the sums that do not balance. */
export function findImbalances(sums: ReconciliationSums): readonly string[] {
  const { customers, withDossier, withoutDossier, notExpected, ambiguousCustomers } = sums;
  const { dossiers, withCustomer, withoutCustomer, ambiguousDossiers, ofOtherRosters } = sums;
  const placed = withDossier + withoutDossier + notExpected + ambiguousCustomers;
  const found = withCustomer + withoutCustomer + ambiguousDossiers + ofOtherRosters;
  return [
    ...(placed === customers ? [] : [`${customers} customers were compared with dossiers, and ${placed} have a place`]),
    ...(found === dossiers ? [] : [`${dossiers} dossiers were compared with customers, and ${found} have a place`]),
  ];
}

const fewestToAssess = 5;

/** Why the join of customers and dossiers is implausible, or null. `largest`: the most customers and the most dossiers of one reference. */
export function findJoinProblem(
  sums: ReconciliationSums,
  largest: { customers: number; dossiers: number },
): string | null {
  const { customers, dossiers, withDossier, ambiguousCustomers, withCustomer, notExpected } = sums;
  const expected = customers - notExpected;
  if (expected >= fewestToAssess && dossiers >= fewestToAssess && withDossier + ambiguousCustomers + withCustomer === 0)
    return `it joins none of ${customers} customers with any of ${dossiers} dossiers`;
  if (largest.customers >= fewestToAssess && largest.customers * 2 > customers)
    return `it gives ${largest.customers} of ${customers} customers the same reference`;
  if (largest.dossiers >= fewestToAssess && largest.dossiers * 2 > dossiers)
    return `it gives ${largest.dossiers} of ${dossiers} dossiers to one customer`;
  return null;
}

/** A discrepancy in a report. */
export type DiscrepancyFacts = FactsOf<typeof discrepancySchema>;

/** An open or accepted discrepancy in a list for reviewers. */
export interface ListedDiscrepancy extends FactsOf<typeof listedDiscrepancySchema> {
  /** Its code, bound to the state that is shown. */
  mark: string;
}

/** The longest acceptance of a discrepancy, in days. */
export const mostAcceptedDays = 180;

/** The number of current discrepancies of one kind and severity. */
export type CurrentDiscrepancies = FactsOf<typeof currentDiscrepanciesSchema>;

/** A comparison of a roster with the dossiers in a report. */
export interface ReconciliationFacts extends FactsOf<typeof reconciliationSchema> {
  /** The first of `newsCount`, most urgent first. */
  news: readonly DiscrepancyFacts[];
}

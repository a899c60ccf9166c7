import type { Corroboration } from '../changes/corroboration.js';
import type { ListedDiscrepancy } from '../reconciliation/discrepancy.js';
import type * as facts from '../vocabulary/facts.js';
import type * as sourceFacts from '../vocabulary/source-facts.js';
import type { AlertNews } from '../vocabulary.js';

// The shapes in `vocabulary` say what each is.
export type RunCounts = facts.FactsOf<typeof facts.runCountsSchema>;
export type PartyFacts = facts.FactsOf<typeof facts.partySchema>;
export type DossierChangeFacts = facts.FactsOf<typeof sourceFacts.dossierChangeSchema>;
export type SweepFacts = facts.FactsOf<typeof sourceFacts.sweepSchema>;
export type NotScreenedFacts = facts.FactsOf<typeof facts.notScreenedSchema>;
export type DroppedPartyFacts = facts.FactsOf<typeof sourceFacts.droppedPartySchema>;
export type ControlFacts = facts.FactsOf<typeof facts.controlResultSchema>;
export type CadenceFacts = facts.FactsOf<typeof facts.cadenceSchema>;
export type ReplacedFacts = facts.FactsOf<typeof facts.replacedSchema>;
export type ChangeAlertFacts = facts.FactsOf<typeof facts.changeAlertSchema>;
export type OpenAlertsFacts = facts.FactsOf<typeof facts.openAlertsSchema>;
export type DetailLookup = facts.FactsOf<typeof facts.detailLookupSchema>;
export type DetailCounts = facts.FactsOf<typeof facts.detailCountsSchema>;
export type RateFacts = facts.FactsOf<typeof facts.rateSchema>;
export type WatchFacts = facts.FactsOf<typeof facts.watchSchema>;
export type AcceptanceFacts = facts.FactsOf<typeof facts.acceptanceSchema>;
type SettingsChangeFacts = facts.FactsOf<typeof facts.settingsChangeSchema>;
export type RosterChangeFacts = facts.FactsOf<typeof sourceFacts.rosterChangeSchema>;
export type RosterAcceptanceFacts = facts.FactsOf<typeof sourceFacts.rosterAcceptanceSchema>;
export type CustomerRecordFacts = RosterChangeFacts['before'];

/** One stored change event of the run. */
export interface MatchChangeFacts extends facts.FactsOf<typeof facts.matchChangeSchema> {
  /** The name of its cluster in the report. */
  cluster?: string | undefined;
}

/** A control search with the field names of `report.json` and `runs show --json`. */
export const toPublishedControl = ({ rounds, ...control }: ControlFacts) => ({
  ...control,
  rounds: rounds.map(({ round, trigger, ...rest }) => ({ round, occasion: trigger, ...rest })),
});

/** The facts of the service watch with the field names of `report.json` and `runs show --json`. */
export function toPublishedWatch({ listCap, ...watch }: WatchFacts) {
  const { rates, ...rest } = watch;
  if (listCap === null) return { rates, listCap, ...rest };
  const { length, status, customers } = listCap;
  return { rates, listCap: { length, standing: status, customers }, ...rest };
}

/** The acceptances that apply to a run. */
export interface AcceptedFacts {
  /** Since the roster's last report; oldest first. */
  settingsChanges: readonly SettingsChangeFacts[];
  rosterAcceptances: readonly RosterAcceptanceFacts[];
}

/** A waiting alert, as a working list shows it. */
export interface WaitingAlert extends facts.FactsOf<typeof facts.waitingAlertSchema> {
  /** The alert code, by which an import identifies the row. */
  mark: string;
  sheetId: number;
  /** What the runs of the report did with it, or in a list the last ones; null for an alert that was open before. */
  news: AlertNews | null;
  corroboration: Corroboration;
  /** For a row that confirms many absent alerts of one listed party: their number, and a sample of their customers. */
  bulk?: { alerts: number; sample: readonly string[] };
}

/** Whether an answer opened the alert or made it more severe, as against what was open before and expired dispositions. */
export const isNew = ({ news }: Pick<WaitingAlert, 'news'>): boolean => news !== null && news !== 'expired';

/** The alerts that waited for a decision when a run closed. */
export interface ToReviewFacts {
  sheetId: number;
  /** The number of all, listed or not. */
  waiting: number;
  /** The first ones: the new ones, then the others, each the most urgent first. */
  alerts: readonly WaitingAlert[];
}

/** The open and accepted discrepancies, most urgent first; `count` includes those that are not listed. */
export interface DiscrepancyList {
  count: number;
  listed: readonly ListedDiscrepancy[];
}

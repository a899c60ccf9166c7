import type { Corroboration } from '../changes/corroboration.js';
import type { ListedDiscrepancy } from '../reconciliation/discrepancy.js';
import type {
  acceptanceSchema,
  cadenceSchema,
  changeAlertSchema,
  controlResultSchema,
  detailCountsSchema,
  detailLookupSchema,
  FactsOf,
  matchChangeSchema,
  notScreenedSchema,
  openAlertsSchema,
  partySchema,
  rateSchema,
  replacedSchema,
  runCountsSchema,
  settingsChangeSchema,
  waitingAlertSchema,
  watchSchema,
} from '../vocabulary/facts.js';
import type {
  dossierChangeSchema,
  droppedPartySchema,
  rosterAcceptanceSchema,
  rosterChangeSchema,
  sweepSchema,
} from '../vocabulary/source-facts.js';
import type { AlertNews } from '../vocabulary.js';

// The shapes in `vocabulary` say what each is.
export type RunCounts = FactsOf<typeof runCountsSchema>;
export type PartyFacts = FactsOf<typeof partySchema>;
export type DossierChangeFacts = FactsOf<typeof dossierChangeSchema>;
export type SweepFacts = FactsOf<typeof sweepSchema>;
export type NotScreenedFacts = FactsOf<typeof notScreenedSchema>;
export type DroppedPartyFacts = FactsOf<typeof droppedPartySchema>;
export type ControlFacts = FactsOf<typeof controlResultSchema>;
export type CadenceFacts = FactsOf<typeof cadenceSchema>;
export type ReplacedFacts = FactsOf<typeof replacedSchema>;
export type ChangeAlertFacts = FactsOf<typeof changeAlertSchema>;
export type OpenAlertsFacts = FactsOf<typeof openAlertsSchema>;
export type DetailLookup = FactsOf<typeof detailLookupSchema>;
export type DetailCounts = FactsOf<typeof detailCountsSchema>;
export type RateFacts = FactsOf<typeof rateSchema>;
export type WatchFacts = FactsOf<typeof watchSchema>;
export type AcceptanceFacts = FactsOf<typeof acceptanceSchema>;
type SettingsChangeFacts = FactsOf<typeof settingsChangeSchema>;
export type RosterChangeFacts = FactsOf<typeof rosterChangeSchema>;
export type RosterAcceptanceFacts = FactsOf<typeof rosterAcceptanceSchema>;
export type CustomerRecordFacts = RosterChangeFacts['before'];

/** One stored change event of the run. */
export interface MatchChangeFacts extends FactsOf<typeof matchChangeSchema> {
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
export interface WaitingAlert extends FactsOf<typeof waitingAlertSchema> {
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

/** Settings that judge, as somebody changed them. */
export interface SettingsChangeFacts {
  /** Each setting with its old and its new value, in words. */
  differences: readonly string[];
  acceptedBy: string;
  /** True where nothing but their word says who they are. */
  isAttested: boolean;
  reason: string;
  acceptedAt: Date;
}

/** What was known of a customer, or what a roster says of them. */
export interface CustomerRecordFacts {
  name: string;
  type: string;
  birthDate: string | null;
  countries: readonly string[];
  /** Aliases and related parties, as `role: name`. */
  parties: readonly string[];
}

/** A change of a known customer that guards found. */
export interface RosterChangeFacts {
  reference: string;
  before: CustomerRecordFacts;
  after: CustomerRecordFacts;
}

/** A roster that somebody took although guards would have held it. */
export interface RosterAcceptanceFacts extends Omit<SettingsChangeFacts, 'differences'> {
  /** Each guard with what it found, in words that give both figures. */
  heldBy: readonly { guard: string; message: string }[];
  /** The first of the changes that they found. */
  changes: readonly RosterChangeFacts[];
}

/** What somebody accepted that a run went by. */
export interface AcceptedFacts {
  /** Since the roster's last report; oldest first. */
  settingsChanges: readonly SettingsChangeFacts[];
  rosterAcceptances: readonly RosterAcceptanceFacts[];
}

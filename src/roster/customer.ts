/** What a party is; the service's `type` (interface: AML search). */
export const partyTypes = ['person', 'entity'] as const;
export type PartyType = (typeof partyTypes)[number];

/** How closely a customer is watched; a customer without a tier counts as high. */
export const riskTiers = ['low', 'medium', 'high'] as const;
export type RiskTier = (typeof riskTiers)[number];

/** In which role a party belongs to its customer; `customer` is the customer itself. */
export const partyRoles = [
  'customer',
  'alias',
  'joint_holder',
  'director',
  'beneficial_owner',
  // Of two rows that contradict each other both names are searched for.
  'conflicting_row',
] as const;
export type PartyRole = (typeof partyRoles)[number];

/** One name under which a customer is screened. */
export interface Party {
  role: PartyRole;
  type: PartyType;
  /** As the roster gives it. */
  name: string;
  /** `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; with `?` behind it where it may be another date, so that it contradicts none. */
  birthDate: string | null;
  /**
   * Lower-case ISO 3166-1 alpha-2 codes, and ISO 3166-3 codes of four letters of countries that were split up since; `zz` among others is one
   * that cannot be read.
   */
  countries: readonly string[];
}

/** One accepted record of a roster; `reference` is the firm's own customer id. The first party is the customer itself. */
export interface Customer {
  reference: string;
  riskTier: RiskTier | null;
  parties: readonly [Party, ...Party[]];
  /** False where the roster itself says that the customer has left. */
  isActive: boolean;
  /** `yyyy-mm-dd`: the last day as a customer, where the roster gives one. */
  endDate: string | null;
  /** What else the roster says, by its own headers, where the settings ask to keep it. */
  attributes: Readonly<Record<string, string>>;
  readings: Readings;
}

/** What of a row's facts is in doubt, and what stands in the source where it is kept in another form. */
export interface Readings {
  doubts: readonly Doubt[];
  said: Readonly<Partial<Record<DoubtField, string>>> | null;
}

/** The facts that are no part of a request: they stop no search. */
export type DoubtField = 'birthDate' | 'countries' | 'riskTier' | 'active' | 'endDate' | 'aliases';

/** Why a fact of an accepted row counts as unknown; stable codes, used in rejects.csv and in SQL. */
export const doubtReasons = [
  'says_unknown',
  'invalid_birth_date',
  'no_such_day',
  'ambiguous_date',
  'year_too_early',
  'year_in_future',
  'hijri_year',
  'buddhist_year',
  'unknown_country',
  'ambiguous_country',
  'stateless',
  'unknown_risk_tier',
  'unknown_standing',
  'invalid_end_date',
  'unreadable_alias',
  'control_character',
  'replacement_character',
] as const;
export type DoubtReason = (typeof doubtReasons)[number];

/** A fact that counts as unknown, with what the source says. */
export interface Doubt {
  field: DoubtField;
  /** The source's column. */
  column: string;
  value: string;
  why: DoubtReason;
}

/** A further party of a customer from a source of its own, such as a director. */
export interface RelatedParty {
  /** The customer's id. */
  reference: string;
  party: Party;
  readings: Readings;
}

/** Why a row was not accepted; stable codes, used in rejects.csv and in SQL. Some of them only earlier versions gave. */
export const rejectReasons = [
  'missing_id',
  'missing_name',
  'missing_type',
  'id_too_long',
  'unknown_type',
  'invalid_birth_date',
  'unknown_country',
  'unknown_risk_tier',
  'control_character',
  'name_too_long',
  'name_without_letters',
  'wrong_column_count',
  'conflicting_id',
  'malformed_csv',
  'too_many_parties',
  'field_too_long',
  'line_break_in_name',
  'replacement_character',
  'unknown_standing',
  'invalid_end_date',
  'unknown_role',
  'unknown_customer',
] as const;
export type RejectReason = (typeof rejectReasons)[number];

/** A row that was not accepted, with all that is needed to fix it and feed it back. */
export interface RejectedRow {
  /** Physical line on which the row begins, from 1 (the header's is 1); for a query, the ordinal of the row. */
  line: number;
  /** The file it stands in where a roster has several, or the source of related parties; null otherwise. */
  file: string | null;
  /** The source's column at fault, where one is. */
  column: string | null;
  reason: RejectReason;
  /** What kind of value is at fault, without the value: such as `empty`, `digits, 8 characters`, `control character U+0000`. */
  valueClass: string | null;
  /** The customer id where the row shows one, so that a known customer stays in scope. */
  reference: string | null;
  /** The row's fields under the source's own headers. */
  fields: Readonly<Record<string, string>>;
}

/** What a row became. */
export type RosterRow =
  | {
      kind: 'customer';
      line: number;
      file: string | null;
      customer: Customer;
      /** As they stand in the source, in the order of its headers, in case another row contradicts this one. */
      fields: readonly string[];
      /** The same with U+001F between them; null where one of them holds a control character. */
      joined: string | null;
    }
  | { kind: 'rejected'; rejected: RejectedRow };

/** What a row of related parties became. */
export type PartyRow =
  | { kind: 'party'; line: number; file: string | null; related: RelatedParty; fields: readonly string[] }
  | { kind: 'rejected'; rejected: RejectedRow };

/** What a party is; the service's `type` (interface: AML search). */
export const partyTypes = ['person', 'entity'] as const;
export type PartyType = (typeof partyTypes)[number];

/** How closely a customer is watched; a customer without a tier counts as high. */
export const riskTiers = ['low', 'medium', 'high'] as const;
export type RiskTier = (typeof riskTiers)[number];

/** In which role a party belongs to its customer; `customer` is the customer itself. */
export const partyRoles = ['customer', 'alias', 'joint_holder', 'director', 'beneficial_owner'] as const;
export type PartyRole = (typeof partyRoles)[number];

/** One name under which a customer is screened. */
export interface Party {
  role: PartyRole;
  type: PartyType;
  /** As the roster gives it. */
  name: string;
  /** `yyyy`, `yyyy-mm` or `yyyy-mm-dd`. */
  birthDate: string | null;
  /** Lower-case ISO 3166-1 alpha-2 codes. */
  countries: readonly string[];
}

/** One accepted record of a roster; `reference` is the firm's own customer id. The first party is the customer itself. */
export interface Customer {
  reference: string;
  riskTier: RiskTier | null;
  parties: readonly [Party, ...Party[]];
}

/** Why a row was not accepted; stable codes, used in rejects.csv and in SQL. */
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
] as const;
export type RejectReason = (typeof rejectReasons)[number];

/** A row that was not accepted, with all that is needed to fix it and feed it back. */
export interface RejectedRow {
  /** Physical line on which the row begins, from 1 (the header's is 1); for a query, the ordinal of the row. */
  line: number;
  /** The source's column at fault, where one is. */
  column: string | null;
  reason: RejectReason;
  /** The customer id where the row shows one, so that a known customer stays in scope. */
  reference: string | null;
  /** The row's fields under the source's own headers. */
  fields: Readonly<Record<string, string>>;
}

/** What a row became. */
export type RosterRow =
  | { kind: 'customer'; line: number; customer: Customer }
  | { kind: 'rejected'; rejected: RejectedRow };

import type { SeatedParty } from './roster-cases.js';

/** An accepted row of an import on its way. */
export interface StagedCustomer {
  kind: 'customer';
  ordinal: number;
  line: number;
  file: string | null;
  reference: string;
  /** What is sent for the customer itself. */
  type: string;
  sentName: string;
  /** How many parties the record has. */
  parties: number;
  riskTier: string | null;
  /** The record as JSON. */
  record: string;
  /** 32 hexadecimal digits that are the same for the same record only. */
  recordDigest: string;
  /** Why the row itself says that the customer has left. */
  leaves: 'inactive' | 'end_date' | null;
  /** The fields as they stand, in the order of the headers, with `fieldSeparator` between them and neither it nor `rowSeparator` in them. */
  raw: string;
}

/** An accepted row of a source of related parties on its way. */
export interface StagedRelated {
  kind: 'party';
  ordinal: number;
  line: number;
  file: string | null;
  reference: string;
  party: SeatedParty;
  fields: Readonly<Record<string, string>>;
}

/** A row that was not accepted on its way. */
export interface StagedReject {
  kind: 'rejected';
  ordinal: number;
  line: number;
  file: string | null;
  reference: string | null;
  reason: string;
  column: string | null;
  valueClass: string | null;
  fields: Readonly<Record<string, string>>;
}

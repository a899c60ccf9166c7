import type { PartyType, RiskTier } from '../customer.js';
import type { ColumnProfile } from './column-profile.js';
import type { ColumnRole } from './header-words.js';

/** A mapping as guessed, in the words of the configuration. */
export interface GuessedColumns {
  id?: string | readonly string[];
  name?: string | readonly string[];
  type?: { value: PartyType } | { column: string; values: Readonly<Record<string, PartyType>> } | string;
  birthDate?: string | { column: string; format: string } | { column: string; formats: readonly string[] };
  countries?: string | readonly string[];
  /** Of the names of countries. */
  language?: string;
  riskTier?: string | { column: string; values: Readonly<Record<string, RiskTier>> };
}

/** A guessed mapping, with what somebody who knows the file should look at. */
export interface ColumnGuess {
  columns: GuessedColumns;
  /** Why each was guessed: by its header, or by its values. */
  because: Readonly<Record<string, string>>;
  /** What could not be guessed, or only by half. */
  doubts: readonly string[];
}

/** From this share on the values of a column are all of a kind. */
export const enough = 0.9;

/** A guess while it is made: each column is taken for one thing at most. */
export class Guess implements ColumnGuess {
  readonly columns: GuessedColumns = {};
  readonly because: Record<string, string> = {};
  readonly doubts: string[] = [];
  readonly #free: Set<ColumnProfile>;

  constructor(profiles: readonly ColumnProfile[]) {
    this.#free = new Set(profiles);
  }

  /** Columns that are not taken yet, in the order of the table. */
  get free(): readonly ColumnProfile[] {
    return [...this.#free];
  }

  /** Free columns whose headers say nothing that is known: only of these the values may decide. */
  get unnamed(): readonly ColumnProfile[] {
    return this.free.filter(({ isOpen }) => isOpen);
  }

  /** Free columns of a role, those whose headers say it most clearly and that have most values first. */
  ofRole(role: ColumnRole): readonly ColumnProfile[] {
    const weigh = ({ strength, filledShare }: ColumnProfile): number => strength + 4 * Math.min(filledShare, 0.5);
    return this.free.filter((profile) => profile.role === role).toSorted((one, other) => weigh(other) - weigh(one));
  }

  byRole(role: ColumnRole): ColumnProfile | undefined {
    return this.ofRole(role)[0];
  }

  take(key: keyof GuessedColumns, why: string, ...profiles: readonly ColumnProfile[]): void {
    for (const profile of profiles) this.#free.delete(profile);
    this.because[key] = why;
  }
}

/** One header as it is, several as a list. */
export function toHeaders(profiles: readonly ColumnProfile[]): string | readonly string[] {
  const headers = profiles.map(({ header }) => header);
  return headers.length === 1 ? (headers[0] ?? '') : headers;
}

/** Own words for a message. */
export const quoteAll = (values: readonly string[]): string => values.map((value) => JSON.stringify(value)).join(', ');

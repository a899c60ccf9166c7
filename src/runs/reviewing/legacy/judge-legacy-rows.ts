import { foldName } from '../../../matches/fold-name.js';
import { parseIsoDate } from '../../../roster/birth-date.js';
import type { LegacyCandidate, LegacyCustomer } from '../../../store/review/legacy.js';
import { parseVerdict } from '../parse-verdict.js';
import { findLegacyItems, type NamedMatch, type Unmatched } from './find-legacy-item.js';
import type { LegacyFacts, LegacyRow } from './read-legacy-rows.js';

/** Why a row is not taken although it is clear what it is about, or why that cannot be read. */
export type LegacyRefusal = 'unreadable' | 'decided_here' | 'taken_otherwise' | 'contradicted';

/** What becomes of a row of an older system, on one account where it is about several. */
export type JudgedRow = {
  row: LegacyRow;
  /** Of the account; null where the row is about nothing on any. */
  mode: LegacyCandidate['mode'] | null;
} & (
  | { kind: 'decided' | 'sample'; itemId: number; facts: LegacyFacts }
  /** Taken before, or said by an earlier row. */
  | { kind: 'same' }
  | { kind: 'unmatched'; reason: Unmatched }
  | { kind: 'refused'; reason: LegacyRefusal; problem: string | null }
);

/**
 * Says of each row of an older system what becomes of it, in their order and each once for each account where its match is. Of rows about one item that agree the first counts; of
 * rows that do not none, also where one of them cannot be taken for another reason. What somebody here has decided is never touched, and what was taken over before is not taken again.
 */
export function judgeLegacyRows(
  rows: readonly LegacyRow[],
  customers: readonly LegacyCustomer[],
  isSampled: (itemId: number) => boolean,
): readonly JudgedRow[] {
  const byReference = new Map<string, LegacyCustomer[]>();
  for (const customer of customers) {
    byReference.set(customer.reference, [...(byReference.get(customer.reference) ?? []), customer]);
  }
  const find = (named: NamedMatch) => findLegacyItems(named, byReference.get(named.reference) ?? []);
  const found = rows.map((row) => {
    const { facts } = row;
    if ('problem' in facts) return { row, problem: facts.problem };
    return { row, facts, ...find(facts) };
  });
  const contradicted = findContradicted(
    rows.flatMap((row): readonly Statement[] => {
      const said = toStatement(row);
      if (said === null) return [];
      const about = find(said.named);
      const statement = { ...said, line: row.line };
      if ('unmatched' in about) return [{ ...statement, about }];
      return about.items.map((item) => ({ ...statement, about: { item } }));
    }),
  );
  const seen = new Set<number>();
  return found.flatMap((one): readonly JudgedRow[] => {
    const { row } = one;
    const nowhere = { row, mode: null };
    if ('problem' in one) return [{ ...nowhere, kind: 'refused', reason: 'unreadable', problem: one.problem }];
    if ('unmatched' in one) return [{ ...nowhere, kind: 'unmatched', reason: one.unmatched }];
    const { items, facts } = one;
    if (contradicted.has(row.line)) return [{ ...nowhere, kind: 'refused', reason: 'contradicted', problem: null }];
    return items.map((item): JudgedRow => {
      const { itemId, mode, taken } = item;
      const about = { row, mode };
      const refuse = (reason: LegacyRefusal): JudgedRow => ({ ...about, kind: 'refused', reason, problem: null });
      if (taken === facts.verdict) return { ...about, kind: 'same' };
      if (taken !== null) return refuse('taken_otherwise');
      if (item.isDecidedHere) return refuse('decided_here');
      if (seen.has(itemId)) return { ...about, kind: 'same' };
      seen.add(itemId);
      const isSample = facts.verdict === 'false_positive' && isSampled(itemId);
      return { ...about, kind: isSample ? 'sample' : 'decided', itemId, facts };
    });
  });
}

/** What a row says, as far as it can be read; null where it gives no decision or no match. */
function toStatement({ facts, cells }: LegacyRow): Pick<Statement, 'named' | 'verdict'> | null {
  if (!('problem' in facts)) return { named: facts, verdict: facts.verdict };
  const { customer_id: reference, roster, match_id: matchId, listed_name: listedName, decision } = cells;
  if (decision === '' || (matchId === '' && listedName === '')) return null;
  const named: NamedMatch = {
    reference: reference.normalize('NFC'),
    roster: roster || null,
    matchId: matchId || null,
    listedName: listedName || null,
    listedBirthDate: cells.listed_birth_date === '' ? null : parseIsoDate(cells.listed_birth_date),
  };
  return { named, verdict: parseVerdict(decision) ?? decision };
}

/** What a row says about a match, also one that cannot be taken for another reason. */
interface Statement {
  line: number;
  named: NamedMatch;
  /** A verdict, or what cannot be read as one. */
  verdict: string;
  about: { item: LegacyCandidate } | { unmatched: Unmatched };
}

/**
 * The lines of the rows whose match another row judges otherwise: one about the same item, or one of which nobody can tell what it is about
 * that names the same customer and the same match id or listed name.
 */
function findContradicted(statements: readonly Statement[]): ReadonlySet<number> {
  const verdicts = new Map<number, Set<string>>();
  const unplaced = new Map<string, Unplaced[]>();
  for (const { named, verdict, about } of statements) {
    if ('item' in about) verdicts.set(about.item.itemId, (verdicts.get(about.item.itemId) ?? new Set()).add(verdict));
    else {
      const others = unplaced.get(named.reference) ?? [];
      unplaced.set(named.reference, [...others, { named, verdict, unmatched: about.unmatched }]);
    }
  }
  const contradicted = statements.filter(({ named, verdict, about }) => {
    if (!('item' in about)) return false;
    if ((verdicts.get(about.item.itemId)?.size ?? 0) > 1) return true;
    const others = unplaced.get(named.reference) ?? [];
    return others.some((other) => other.verdict !== verdict && couldMean(other, named, about.item));
  });
  return new Set(contradicted.map(({ line }) => line));
}

interface Unplaced extends Pick<Statement, 'named' | 'verdict'> {
  unmatched: Unmatched;
}

function couldMean({ named: other, unmatched }: Unplaced, named: NamedMatch, { listed }: LegacyCandidate): boolean {
  // A roster that nobody has heard of may be a slip of the pen.
  const isElsewhere = other.roster !== null && named.roster !== null && other.roster !== named.roster;
  if (isElsewhere && unmatched !== 'unknown_customer') return false;
  if (other.matchId !== null && [named.matchId, listed.id].includes(other.matchId)) return true;
  if (other.listedName === null) return false;
  const name = foldName(other.listedName);
  return [named.listedName ?? '', listed.name].some((each) => foldName(each) === name);
}

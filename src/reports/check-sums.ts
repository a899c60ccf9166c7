import { ReportError } from '../errors.js';
import type { Sum, Term } from './list-sums.js';

/** Returns when every sum holds; throws ReportError `unbalanced` that names each one that does not, with both figures. */
export function checkSums(sums: readonly Sum[]): void {
  const wrong = sums.filter((sum) => !holds(sum)).map(describe);
  if (wrong.length > 0) throw new ReportError('unbalanced', `sums do not hold: ${wrong.join('; ')}`);
}

function holds(sum: Sum): boolean {
  const counts = [sum.whole, ...sum.parts].map((term) => term.count);
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) return false;
  return sum.relation === 'equal' ? sum.whole.count === totalOf(sum) : sum.whole.count <= totalOf(sum);
}

function describe(sum: Sum): string {
  const sign = sum.relation === 'equal' ? 'is not' : 'is more than';
  const parts = sum.parts.map(describeTerm).join(' + ');
  const result = sum.parts.length > 1 ? ` (${totalOf(sum)})` : '';
  return `${describeTerm(sum.whole)} ${sign} ${parts}${result}`;
}

const totalOf = (sum: Sum): number => sum.parts.reduce((total, term) => total + term.count, 0);
const describeTerm = (term: Term): string => `${term.name} ${term.count}`;

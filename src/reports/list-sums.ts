import type { NotScreenedFacts, RunCounts } from './list-facts.js';
import { countBaseline, countChanges, isOfParties, type RunFacts, type SpanRunFacts } from './run-facts.js';

/** A named figure of a sum. */
export interface Term {
  name: string;
  count: number;
}

/** A figure that its parts have to add up to; `at_most` where the parts may be more, never fewer. */
export interface Sum {
  relation: 'equal' | 'at_most';
  whole: Term;
  parts: readonly Term[];
}

/** The sums of DESIGN's conservation rule that the reader is shown: rows, customers in scope, customers planned. */
export function listCoverageSums(counts: RunCounts): readonly Sum[] {
  return [
    equal(
      term('rows', counts.rows),
      term('customers', counts.customers),
      term('rejected', counts.rejected),
      term('duplicates', counts.duplicates),
    ),
    equal(term('in scope', counts.inScope), term('planned', counts.planned), term('skipped', counts.skipped)),
    equal(
      term('planned', counts.planned),
      term('screened', counts.screened),
      term('reused', counts.reused),
      term('failed', counts.failed),
      term('remaining', counts.remaining),
    ),
  ];
}

/** Every sum that has to hold before the facts of a run may be reported. */
export function listSums(facts: RunFacts): readonly Sum[] {
  const { counts, states } = facts;
  if (counts === null) return [];
  const listed = facts.cut.notScreened?.customers ?? countListed(facts.notScreened);
  const sums: Sum[] = [
    ...listCoverageSums(counts),
    equal(term('failed', counts.failed), term('failures by reason', total(facts.failedBecause))),
    equal(term('skipped', counts.skipped), term('skips by reason', total(facts.skippedBecause))),
    equal(term('failed', counts.failed), term('customers listed as failed', listed.failed)),
    equal(term('remaining', counts.remaining), term('customers listed as remaining', listed.remaining)),
    equal(
      term('rejected', counts.rejected),
      term('rejected rows listed', facts.rejects.filter((row) => !isOfParties(row)).length),
    ),
    equal(
      term('rejected rows of related parties', counts.rows > 0 ? (facts.rosterSource?.partyRejected ?? 0) : 0),
      term('listed', facts.rejects.filter(isOfParties).length),
    ),
    equal(
      term('changes listed', countChanges(facts)),
      term('changes of the run', counts.changes),
      ...facts.carriedFrom.map((run) => term(`changes of ${run.runId}`, run.changes)),
    ),
    equal(
      term('first-time matches listed', countBaseline(facts)),
      term('first-time matches of the run', total(facts.baseline)),
      ...facts.carriedFrom.map((run) => term(`first-time matches of ${run.runId}`, run.baseline)),
    ),
  ];
  if (states !== null) {
    const byState = Object.entries(states).map(([state, count]) => term(state, count));
    sums.push(equal(term('in scope', counts.inScope), ...byState));
    const listedCustomers = listed.failed + listed.remaining + listed.skipped;
    sums.push({
      relation: 'at_most',
      whole: term('customers in state not_screened', states.not_screened),
      parts: [term('customers listed as not screened', listedCustomers)],
    });
  }
  sums.push(...(facts.span?.runs ?? []).flatMap(listRunSums));
  return facts.state === 'complete' ? [...sums, ...listContradictions(facts, counts)] : sums;
}

/** Those of one run of a span; a run whose sums did not hold is told as such and proves nothing. */
function listRunSums({ runId, state, counts, states, changes }: SpanRunFacts): readonly Sum[] {
  if (counts === null || state === 'unbalanced') return [];
  const sums = [
    ...listCoverageSums(counts),
    equal(term('changes', counts.changes), term('changes found', changes)),
    ...(states === null ? [] : [equal(term('in scope', counts.inScope), term('customers by state', total(states)))]),
  ];
  return sums.map((sum) => ({ ...sum, whole: { ...sum.whole, name: `${sum.whole.name} of ${runId}` } }));
}

function listContradictions(facts: RunFacts, counts: RunCounts): readonly Sum[] {
  const failedCanaries = facts.canaries.filter((canary) => canary.verdict === 'failed').length;
  const allowed = term('allowed in a complete run', 0);
  return [
    equal(term('failed', counts.failed), allowed),
    equal(term('remaining', counts.remaining), allowed),
    equal(term('failed canaries', failedCanaries), allowed),
  ];
}

/** Customers, not parties: one with several parties counts once, under the worst of its outcomes. */
function countListed(notScreened: readonly NotScreenedFacts[]): Record<NotScreenedFacts['outcome'], number> {
  const counted = { failed: 0, remaining: 0, skipped: 0 };
  const seen = new Set<string>();
  for (const outcome of ['failed', 'remaining', 'skipped'] as const) {
    for (const line of notScreened) {
      if (line.outcome !== outcome || seen.has(line.party.reference)) continue;
      seen.add(line.party.reference);
      counted[outcome] += 1;
    }
  }
  return counted;
}

const term = (name: string, count: number): Term => ({ name, count });
const equal = (whole: Term, ...parts: readonly Term[]): Sum => ({ relation: 'equal', whole, parts });
const total = (byReason: Readonly<Record<string, number>>): number =>
  Object.values(byReason).reduce((sum, count) => sum + count, 0);

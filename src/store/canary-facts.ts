import type { CanaryFacts } from '../reports/run-facts.js';
import { type CanaryOutcome, type CanaryRound, readCanaryOutcomes } from './canary-outcomes.js';
import type { Queryable } from './database.js';

/** The control searches of a run, each with all its rounds, failed ones first. */
export async function readCanaryFacts(database: Queryable, runId: number): Promise<readonly CanaryFacts[]> {
  const bySearch = new Map<string, (CanaryOutcome & CanaryRound)[]>();
  for (const outcome of await readCanaryOutcomes(database, runId)) {
    const { type, name, expect, topics } = outcome;
    const key = JSON.stringify([type, name, expect, topics]);
    bySearch.set(key, [...(bySearch.get(key) ?? []), outcome]);
  }
  const facts = [...bySearch.values()].flatMap(toFacts);
  const isFailed = ({ verdict }: CanaryFacts): boolean => verdict === 'failed';
  return [...facts.filter(isFailed), ...facts.filter((canary) => !isFailed(canary))];
}

function toFacts(outcomes: readonly (CanaryOutcome & CanaryRound)[]): CanaryFacts[] {
  const worst = outcomes.find(({ verdict }) => verdict === 'failed') ?? outcomes[0];
  if (!worst) return [];
  const { type, name, expect, topics, label, verdict, found } = worst;
  const rounds = outcomes.map(({ round, occasion, searches, askedAt, verdict }) => ({
    round,
    occasion,
    searches,
    askedAt,
    verdict,
  }));
  return [{ type, name, expect, topics, label, verdict, found, rounds }];
}

import type { Environment } from './environment.js';
import { listNamedSecrets } from './named-secrets.js';
import { findNearMiss } from './near-miss.js';
import { variables } from './variables.js';

const prefix = 'NIGHTSCREEN_';
/** Read by the tests and by the example tracer, not by the program. */
const foreign = /^NIGHTSCREEN_(?:TEST|TRACE)_/;

/** The variables `NIGHTSCREEN_...` that nothing reads, each with the name that was most likely meant, or null. */
export function findUnknownVariables(
  environment: Environment,
  settings: unknown,
): { name: string; meant: string | null }[] {
  const named = listNamedSecrets(settings);
  const secrets = [...named, ...variables.flatMap(({ name, isSecret }) => (isSecret ? [name] : []))];
  const known = [...variables.map(({ name }) => name), ...named, ...secrets.map((name) => `${name}_FILE`)];
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !foreign.test(name) && !known.includes(name))
    .toSorted()
    .map((name) => ({ name, meant: findMeant(name, known) }));
}

/** The prefix is the same in most names, so it says nothing about which one is near. */
function findMeant(name: string, known: readonly string[]): string | null {
  const shorten = (each: string): string => (each.startsWith(prefix) ? each.slice(prefix.length) : each);
  const meant = findNearMiss(shorten(name), known.map(shorten));
  return known.find((each) => shorten(each) === meant) ?? null;
}

import { foldName } from '../matches/fold-name.js';
import type { WaitingItem } from './working-list.js';

/** All that waits about one customer. */
export interface WaitingCase {
  reference: string;
  /** The most urgent first; entries of different lists about one person stand together. */
  people: readonly (readonly WaitingItem[])[];
  alerts: number;
}

/** What waits by customer: as items are given, the most urgent first, a customer stands where the first of its items does. */
export function toWaitingCases(items: readonly WaitingItem[]): readonly WaitingCase[] {
  const byReference = new Map<string, WaitingItem[]>();
  for (const item of items) {
    const { reference } = item.party;
    const members = byReference.get(reference);
    if (members) members.push(item);
    else byReference.set(reference, [item]);
  }
  return [...byReference].map(([reference, members]) => ({
    reference,
    people: groupPeople(members),
    alerts: members.length,
  }));
}

/** An entry joins the first group that holds somebody who can be the same person. */
function groupPeople(items: readonly WaitingItem[]): readonly (readonly WaitingItem[])[] {
  const people: WaitingItem[][] = [];
  for (const item of items) {
    const group = people.find((members) => members.some((member) => canBeSame(member, item)));
    if (group) group.push(item);
    else people.push([item]);
  }
  return people;
}

/**
 * Whether two entries beside one party can be about one person: birth dates that do not contradict, and names of the same words, one of which
 * may have more; or a full birth date and a word of the name in common. This only says what stands together: each entry is decided by itself.
 */
function canBeSame(one: WaitingItem, other: WaitingItem): boolean {
  if (one.party.role !== other.party.role || one.party.name !== other.party.name) return false;
  if (one.listed.schema !== other.listed.schema) return false;
  const [dates, otherDates] = [one.listed.birthDates, other.listed.birthDates];
  const areUnlike =
    dates.length > 0 && otherDates.length > 0 && !dates.some((date) => otherDates.some(agreesWith(date)));
  if (areUnlike) return false;
  const [words, otherWords] = [toWords(one.listed.name), toWords(other.listed.name)];
  const shared = [...words].filter((word) => otherWords.has(word)).length;
  const isWithin =
    shared >= Math.min(2, words.size, otherWords.size) && shared === Math.min(words.size, otherWords.size);
  const haveDate = dates.some((date) => date.length > 4 && otherDates.includes(date));
  return (isWithin && shared > 0) || (haveDate && shared > 0);
}

/** A year agrees with each day of it. */
const agreesWith =
  (date: string) =>
  (other: string): boolean =>
    date.startsWith(other) || other.startsWith(date);

const toWords = (name: string): ReadonlySet<string> => new Set(foldName(name).match(/[\p{L}\p{N}]+/gu) ?? []);

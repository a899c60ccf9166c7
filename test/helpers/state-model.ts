/**
 * A second account of what states customers have and what alerts wait, written from the rules alone (issue 21 and DESIGN.md, "The one
 * rule"). It shares no code with the product, so that both can be wrong only independently.
 */

/** What an answer says of one listed party, without what carries no meaning (score, rank). */
export interface ListedMatch {
  id: string;
  schema: string;
  name: string;
  topics: readonly string[];
  birthDates: readonly string[];
  countries: readonly string[];
  isHit: boolean;
}

/** One searched name of a customer, as the roster has it; `key` stays the same while it is the same party. */
export interface PartyRecord {
  key: string;
  role: string;
  type: 'person' | 'entity';
  name: string;
  birthDate: string | null;
  countries: readonly string[];
}

/** What a roster says of a customer: a record, a record with an end date that has passed, or a row that cannot be read. */
export type RosterRow = { parties: readonly PartyRecord[]; hasEnded: boolean } | 'rejected';

/** What came of one search: its results, `isCut` where there were more than were listed, or nothing valid. */
export type SearchAnswer = { results: readonly ListedMatch[]; isCut: boolean } | 'failed';

/** Whether the night's answers can be used: all, none (a control search failed), or only what makes a customer worse (held). */
export type Reliance = 'relied_on' | 'control_failed' | 'held';

/** One night: what the roster says, what the service answers, and what the run's answers are worth. */
export interface ModelNight {
  atMs: number;
  reliance: Reliance;
  /** Whether the night's settings are other than the night's before; that changes nothing but what may explain an absence. */
  hasNewSettings: boolean;
  rows: ReadonlyMap<string, RosterRow>;
  search(party: PartyRecord): SearchAnswer;
}

export type CustomerState =
  | 'true_match'
  | 'open_alert'
  | 'not_screened'
  | 'truncated'
  | 'false_positive'
  | 'below_threshold'
  | 'clear';

export type Absence = 'not_returned' | 'below_threshold' | 'customer_changed' | 'settings_changed';

export type Verdict = 'false_positive' | 'true_match' | 'inconclusive' | 'no_longer_matched' | 'undo';

/** What the rules say of one alert; `decided` is the decision that holds. */
export interface ModelAlert {
  customer: string;
  party: string;
  listed: ListedMatch;
  /** All ids that it has had; while its match is absent it may be known by an earlier one. */
  ids: readonly string[];
  waits: boolean;
  decided: 'false_positive' | 'true_match' | null;
  isClosed: boolean;
  /** Why its match is absent, the first reason first; any of them may be shown. Empty while it is a hit. */
  absences: readonly Absence[];
  /** Since when it waits, where the rules say: an alert that a decision has never ended keeps its age whatever happens to its match. */
  waitsSinceMs: number | null;
}

interface Alert {
  listed: ListedMatch;
  /** As a held night has listed it since; a more urgent alert shows that, and a decision then counts for it. */
  heldListed: ListedMatch | null;
  ids: string[];
  openedAtMs: number;
  wasDecided: boolean;
  absences: Absence[];
  isClosed: boolean;
  decision: { verdict: 'false_positive' | 'true_match'; boundTo: string; expiresAtMs: number | null } | null;
  /** One of two people has said that it is no longer matched. */
  isEnding: boolean;
  /** Decided as a true match at some time, and not ended since by one of the two dispositions that end it. */
  isTrueMatch: boolean;
  /** Whether it was a true match before the last decision: undoing what ended it does not leave it ended. */
  wasTrueMatch: boolean;
}

interface Party {
  record: PartyRecord;
  /** Whether the newest record of the customer names it. */
  isNamed: boolean;
  /** Whether anything of the customer's row has changed since its last answer. */
  hasNewRow: boolean;
  /** Whether our settings have. */
  hasNewSettings: boolean;
  alerts: Alert[];
  answer: { atMs: number; searched: PartyRecord; results: readonly ListedMatch[]; isCut: boolean } | null;
}

interface Customer {
  /** All that the newest accepted row says. */
  row: string;
  parties: Map<string, Party>;
  absentSnapshots: number;
  hasEnded: boolean;
  /** Its only rows so far could not be read. */
  isUnread: boolean;
}

export interface ModelRules {
  /** How long an answer counts. */
  validMs: number;
  leaveAfterDays: number;
}

const strongestFirst: readonly CustomerState[] = [
  'true_match',
  'open_alert',
  'not_screened',
  'truncated',
  'false_positive',
  'below_threshold',
  'clear',
];

const sorted = (values: readonly string[]): readonly string[] => values.toSorted();

/** What a decision is bound to; score, rank, risk tier and match id are left out. */
const toBound = (listed: ListedMatch, { role, type, name, birthDate, countries }: PartyRecord): string =>
  JSON.stringify([toFacts(listed), role, type, name, birthDate, sorted(countries)]);

type ListedFacts = Omit<ListedMatch, 'id' | 'isHit'>;
const toFacts = ({ schema, name, topics, birthDates, countries }: ListedFacts): string =>
  JSON.stringify([schema, name, sorted(topics), sorted(birthDates), sorted(countries)]);

/** By what a listed party is known again whose id has changed. */
const toContent = ({ schema, name, birthDates, countries }: ListedMatch): string =>
  JSON.stringify([schema, name.toLowerCase(), sorted(birthDates), sorted(countries)]);

/** Absent or not, an alert waits until it is decided; an absent true match waits to be ended. */
const waits = ({ isClosed, decision, absences }: Alert): boolean =>
  !isClosed && (decision === null || (decision.verdict === 'true_match' && absences.length > 0));

/** A party that its customer's record no longer names counts while something of it waits or is a true match: what the record says ends nothing. */
const isCounted = ({ isNamed, alerts }: Party): boolean =>
  isNamed || alerts.some((alert) => waits(alert) || alert.isTrueMatch);

const isSameSearch = (one: PartyRecord, other: PartyRecord): boolean =>
  one.type === other.type && one.name === other.name;

const isSameRecord = (one: PartyRecord, other: PartyRecord): boolean =>
  JSON.stringify({ ...one, countries: sorted(one.countries) }) ===
  JSON.stringify({ ...other, countries: sorted(other.countries) });

/** Whether the answer for a party of a customer is applied. */
type IsMeant = (party: PartyRecord, customer: string) => boolean;

/** Keeps customers, their answers and alerts by the rules, night after night. */
export function createStateModel({ validMs, leaveAfterDays }: ModelRules) {
  const customers = new Map<string, Customer>();

  /** The last night that began, and the parties that are searched for in it. */
  let begun: { night: ModelNight; planned: readonly { customer: string; party: Party }[] } | null = null;

  /** Ends the decisions that have run out; gives their alerts. */
  const endDecisions = (atMs: number): Set<Alert> => {
    const hasRunOut = new Set<Alert>();
    for (const { parties } of customers.values()) {
      for (const { alerts } of parties.values()) for (const alert of alerts) expire(alert, atMs, hasRunOut);
    }
    return hasRunOut;
  };
  const isOnRoster = ({ hasEnded, absentSnapshots }: Customer): boolean =>
    !hasEnded && absentSnapshots <= leaveAfterDays;
  const isInScope = (customer: Customer): boolean =>
    isOnRoster(customer) || [...customer.parties.values()].some(({ alerts }) => alerts.some(waits));

  return {
    /**
     * Takes the roster of a night, and notes who is searched for. Decisions run out, and unnamed parties count as absent, when answers are
     * applied: not in a night that a signal or a kill has ended (`isLeft`).
     */
    beginNight(night: ModelNight, isLeft = false): void {
      const hasRunOut = isLeft ? new Set<Alert>() : endDecisions(night.atMs);
      takeRoster(customers, night.rows);
      if (!isLeft) noteUnnamed(customers);
      // Who comes back into scope because a decision has run out is searched for from the next night on.
      const isPlanned = ({ alerts }: Party): boolean => alerts.some((alert) => waits(alert) && !hasRunOut.has(alert));
      const planned = [...customers].flatMap(([id, customer]) => {
        const parties = [...customer.parties.values()];
        if (night.hasNewSettings) for (const party of parties) party.hasNewSettings = true;
        if (!isOnRoster(customer) && !parties.some(isPlanned)) return [];
        const named = parties.filter((party) => party.isNamed || isPlanned(party));
        return named.map((party) => ({ customer: id, party }));
      });
      begun = { night, planned };
    },

    /**
     * Applies the answers of the last night that began, or those of some of its searches; `reliance` is what they are worth now, which changes
     * when a person accepts them.
     */
    applyAnswers(isMeant: IsMeant = () => true, reliance = begun?.night.reliance): void {
      if (begun === null || reliance === undefined) throw new Error('no night has begun');
      for (const { customer, party } of begun.planned) {
        if (isMeant(party.record, customer)) takeAnswer(party, { ...begun.night, reliance }, begun.night.atMs);
      }
    },

    /** The same later of a night that a signal or a kill has ended: alerts wait since then. */
    applyLeft(isMeant: IsMeant, atMs: number): void {
      if (begun === null) throw new Error('no night has begun');
      endDecisions(atMs);
      noteUnnamed(customers);
      for (const { customer, party } of begun.planned)
        if (isMeant(party.record, customer)) takeAnswer(party, begun.night, atMs);
    },

    /**
     * Decides about the alert of a listed party, as it was `seen`; a decision that does not end anything leaves the state as it is.
     */
    decide(
      { customer, party, listed: { id: matchId } }: Pick<ModelAlert, 'customer' | 'party' | 'listed'>,
      { verdict, expiresAtMs, seen }: { verdict: Verdict; expiresAtMs: number | null; seen: ListedFacts },
    ): void {
      const owner = customers.get(customer)?.parties.get(party);
      const alert = owner?.alerts.find(({ listed }) => listed.id === matchId);
      if (!owner || !alert) throw new Error(`no alert of ${customer} about ${matchId}`);
      alert.isEnding = false;
      if (verdict === 'inconclusive') {
        // Who cannot tell leaves it open, and whoever was a true match stays one.
        alert.decision = null;
        return;
      }
      if (verdict === 'undo') {
        alert.decision = null;
        alert.isTrueMatch ||= alert.wasTrueMatch;
        return;
      }
      alert.wasTrueMatch = alert.isTrueMatch;
      if (verdict === 'no_longer_matched') {
        alert.isClosed = true;
        alert.decision = null;
        alert.isTrueMatch = false;
        return;
      }
      // A disposition keeps names without their case.
      const isSeen = (one: ListedMatch): boolean => toFacts(one).toLowerCase() === toFacts(seen).toLowerCase();
      const shown = [alert.heldListed, alert.listed].find((one) => one !== null && isSeen(one));
      const boundTo = toBound(shown ?? alert.listed, owner.answer?.searched ?? owner.record);
      alert.decision = { verdict, boundTo, expiresAtMs };
      alert.isTrueMatch = verdict === 'true_match';
      alert.wasDecided = true;
    },

    /** Notes what one of two people has said, which changes no state; who comes back although that was said to be over is looked at anew. */
    propose(customer: string, party: string, matchId: string, verdict: Verdict): void {
      const alert = customers
        .get(customer)
        ?.parties.get(party)
        ?.alerts.find(({ listed }) => listed.id === matchId);
      if (alert) alert.isEnding = verdict === 'no_longer_matched';
    },

    /** The state of each customer in scope. */
    readStates(atMs: number): Map<string, CustomerState> {
      const states = new Map<string, CustomerState>();
      for (const [id, customer] of customers) {
        if (!isInScope(customer)) continue;
        const counted = [...customer.parties.values()].filter(isCounted);
        const found = new Set(counted.map((party) => toState(party, atMs - validMs)));
        if (customer.isUnread) found.add('not_screened');
        states.set(id, strongestFirst.find((state) => found.has(state)) ?? 'not_screened');
      }
      return states;
    },

    /** The alerts of customers in scope and of the parties that count. */
    readAlerts(): readonly ModelAlert[] {
      return [...customers].flatMap(([customer, facts]) => {
        if (!isInScope(facts)) return [];
        const parties = [...facts.parties].filter(([, party]) => isCounted(party));
        return parties.flatMap(([party, { alerts }]) => alerts.map((alert) => toModelAlert(customer, party, alert)));
      });
    },
  };
}

export type StateModel = ReturnType<typeof createStateModel>;

function toModelAlert(customer: string, party: string, alert: Alert): ModelAlert {
  const { listed, ids, isClosed, absences, openedAtMs, decision, wasDecided } = alert;
  const decided = decision?.verdict ?? null;
  const waitsSinceMs = wasDecided ? null : openedAtMs;
  return { customer, party, listed, ids, waits: waits(alert), decided, isClosed, absences, waitsSinceMs };
}

function takeRoster(customers: Map<string, Customer>, rows: ModelNight['rows']): void {
  for (const [id, row] of rows) {
    const known = customers.get(id);
    if (row === 'rejected') {
      // A rejected row never unscreens: the last accepted record counts on.
      if (known) known.absentSnapshots = 0;
      else customers.set(id, { row: '', parties: new Map(), absentSnapshots: 0, hasEnded: false, isUnread: true });
      continue;
    }
    const customer = known ?? { row: '', parties: new Map(), absentSnapshots: 0, hasEnded: false, isUnread: false };
    const text = JSON.stringify(row);
    if (customer.row !== text) for (const party of customer.parties.values()) party.hasNewRow = true;
    Object.assign(customer, { row: text, absentSnapshots: 0, hasEnded: row.hasEnded, isUnread: false });
    for (const party of customer.parties.values())
      party.isNamed = row.parties.some(({ key }) => key === party.record.key);
    for (const record of row.parties) {
      const party = customer.parties.get(record.key);
      if (party) party.record = record;
      else
        customer.parties.set(record.key, {
          record,
          isNamed: true,
          hasNewRow: false,
          hasNewSettings: false,
          alerts: [],
          answer: null,
        });
    }
    customers.set(id, customer);
  }
  for (const [id, customer] of customers) {
    if (rows.has(id)) continue;
    if (customer.isUnread) customers.delete(id);
    else customer.absentSnapshots += 1;
  }
}

/** Alerts of parties whom the records of their customers no longer name are absent once answers are applied. */
function noteUnnamed(customers: ReadonlyMap<string, Customer>): void {
  for (const { parties } of customers.values()) {
    for (const { isNamed, alerts } of parties.values()) {
      if (!isNamed) for (const alert of alerts) noteAbsence(alert, 'customer_changed');
    }
  }
}

function takeAnswer(party: Party, { atMs, reliance, search }: ModelNight, appliedAtMs: number): void {
  const { record, isNamed, alerts } = party;
  const answer = search(record);
  if (answer === 'failed' || reliance === 'control_failed') return;
  const pairs = pair(alerts, answer.results);
  for (const alert of alerts) {
    const listed = pairs.get(alert);
    const before = { ...alert };
    alert.heldListed = null;
    if (listed) {
      alert.listed = listed;
      if (!alert.ids.includes(listed.id)) alert.ids = [...alert.ids, listed.id];
    }
    // A held night re-opens what has changed for the worse, and ends no wait.
    if (listed?.isHit && isNamed) seeAgain(alert, record);
    else if (listed?.isHit) noteAbsence(alert, 'customer_changed');
    else if (reliance === 'relied_on')
      noteMissing(alert, party, listed ? 'listed' : answer.isCut ? 'unproven' : 'missing');
    if (reliance !== 'held') continue;
    // What it only lists otherwise, under another id say, is not believed either.
    const isSame = alert.decision === before.decision && alert.absences.length === before.absences.length;
    if (!waits(alert)) Object.assign(alert, before);
    else if (isSame && !before.isClosed)
      Object.assign(alert, { listed: before.listed, ids: before.ids, heldListed: listed ?? null });
  }
  const paired = new Set(pairs.values());
  for (const listed of answer.results) {
    if (!listed.isHit || paired.has(listed)) continue;
    const state = {
      isClosed: false,
      decision: null,
      heldListed: null,
      isTrueMatch: false,
      wasTrueMatch: false,
      wasDecided: false,
      isEnding: false,
    };
    alerts.push({
      listed,
      ids: [listed.id],
      openedAtMs: appliedAtMs,
      absences: isNamed ? [] : ['customer_changed'],
      ...state,
    });
  }
  // A held night's answer counts for nothing that could be better than before.
  if (reliance !== 'relied_on') return;
  party.answer = { atMs, searched: record, ...answer };
  party.hasNewRow = false;
  party.hasNewSettings = false;
}

/** The match is no hit in an answer that counts: it is listed below the threshold or missing, which a cut answer does not prove. */
function noteMissing(alert: Alert, party: Party, seen: 'listed' | 'missing' | 'unproven'): void {
  const { record, answer, hasNewRow, hasNewSettings } = party;
  if (seen === 'unproven') dropUnlessBound(alert, record);
  else if (seen === 'missing' && answer !== null && !isSameSearch(answer.searched, record))
    noteAbsence(alert, 'customer_changed');
  else noteAbsence(alert, seen === 'listed' ? 'below_threshold' : 'not_returned');
  // While it is absent its new id need not be noticed.
  if (seen === 'listed' && alert.ids.length > 1) noteAbsence(alert, 'not_returned');
  if (hasNewRow && alert.absences.length > 0) noteAbsence(alert, 'customer_changed');
  if (hasNewSettings && alert.absences.length > 0) noteAbsence(alert, 'settings_changed');
}

/** Pairs alerts and results by id first, then by content; those that are closed come last, and who was listed until now before who was absent. */
function pair(alerts: readonly Alert[], results: readonly ListedMatch[]): Map<Alert, ListedMatch> {
  const pairs = new Map<Alert, ListedMatch>();
  const left = new Set(results);
  const take = (isSame: (alert: Alert, listed: ListedMatch) => boolean): void => {
    for (const alert of alerts.toSorted(
      (one, other) => Math.sign(one.absences.length) - Math.sign(other.absences.length),
    )) {
      if (pairs.has(alert)) continue;
      const found = [...left].find((listed) => isSame(alert, listed));
      if (!found) continue;
      pairs.set(alert, found);
      left.delete(found);
    }
  };
  for (const isClosed of [false, true]) {
    take((alert, listed) => alert.isClosed === isClosed && alert.listed.id === listed.id);
    take((alert, listed) => alert.isClosed === isClosed && toContent(alert.listed) === toContent(listed));
  }
  return pairs;
}

/** The match is a hit tonight: a closed alert goes on, and a decision holds as long as what it was bound to is the same. */
function seeAgain(alert: Alert, record: PartyRecord): void {
  if (alert.isEnding) alert.decision = null;
  alert.isEnding = false;
  alert.absences = [];
  alert.isClosed = false;
  dropUnlessBound(alert, record);
}

function dropUnlessBound(alert: Alert, record: PartyRecord): void {
  if (alert.decision && alert.decision.boundTo !== toBound(alert.listed, record)) alert.decision = null;
}

/** The match is no hit tonight: a false positive closes by itself, and everything else waits. */
function noteAbsence(alert: Alert, absence: Absence): void {
  if (alert.isClosed) return;
  if (!alert.absences.includes(absence)) alert.absences.push(absence);
  if (alert.decision?.verdict === 'false_positive') alert.isClosed = true;
}

function expire(alert: Alert, atMs: number, hasRunOut: Set<Alert>): void {
  const endsAtMs = alert.decision?.expiresAtMs ?? null;
  if (endsAtMs === null || endsAtMs > atMs) return;
  alert.decision = null;
  hasRunOut.add(alert);
}

function toState({ record, alerts, answer }: Party, validSinceMs: number): CustomerState {
  if (alerts.some(({ isTrueMatch }) => isTrueMatch)) return 'true_match';
  if (alerts.some(waits)) return 'open_alert';
  if (answer === null || answer.atMs < validSinceMs || !isSameRecord(answer.searched, record)) return 'not_screened';
  // A hit that is settled says nothing of what was cut off.
  if (answer.isCut) return 'truncated';
  if (answer.results.some(({ isHit }) => isHit)) return 'false_positive';
  return answer.results.length > 0 ? 'below_threshold' : 'clear';
}

import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { changeSettingsSchema } from '../../src/changes/severity.js';
import { toAlertCode } from '../../src/matches/alert-code.js';
import type { RosterSettings } from '../../src/roster/settings.js';
import { toAlertSeenVersion } from '../../src/runs/review/alerts.js';
import { decideAlerts, undoDecision } from '../../src/runs/review/decide.js';
import { findReviewer } from '../../src/runs/review/people.js';
import { reviewSettingsSchema } from '../../src/runs/review/settings.js';
import { acceptRun } from '../../src/runs/screening/accept-run.js';
import { acceptSettings } from '../../src/runs/settings-acceptance.js';
import type { LedgerEntry } from '../../src/sandbox/calls.js';
import { createSearch } from '../../src/sandbox/search-watchlist.js';
import { toHoldBounds } from '../../src/screening/settings.js';
import { type Database, readColumn } from '../../src/store/database/database.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { sql } from '../../src/store/database/statement.js';
import { readReviewOrganisation } from '../../src/store/organisations.js';
import { holdAlerts } from '../../src/store/review/decisions.js';
import { seenFactsSchema } from '../../src/vocabulary/facts.js';
import { severities } from '../../src/vocabulary.js';
import { createLogin } from './database-servers.js';
import { toAccepterGrants, toReviewerGrants } from './databases.js';
import { type Choice, chooseDecision, makeWorldNights, type WorldNight, type WorldSize } from './random-world.js';
import { listenAlong, makeAcceptance, type SmallSite } from './small-site.js';
import { fileOf, listed, type TestAppContext } from './small-world.js';
import { createStateModel, type ModelAlert, type PartyRecord, type Reliance, type StateModel } from './state-model.js';
import { expectAgreement, stateAtSql } from './status-agreement.js';

/** Where the product and the model disagree. */
export interface Mismatch {
  kind: 'state' | 'alert' | 'decision' | 'absence' | 'age' | 'surplus' | 'refused';
  seed: number;
  customer: string;
  /** The night, from 1, and whether before or after the decisions that followed it. */
  moment: string;
  expected: string;
  found: string;
}

const hourMs = 3_600_000;
/** Longer than an answer counts, so that a night without an answer leaves none, whatever grace there is. */
const nightMs = 28 * hourMs;
const rules = { validMs: 27 * hourMs, leaveAfterDays: 2 };
/** So much is delisted in these worlds that the usual bounds would hold most of their nights: here those that lose their lists. */
const hold = toHoldBounds({
  vanishedShare: 0.5,
  manyShare: 0.5,
  weekShare: 1,
  allOf: 100_000,
  newlyOpenLeast: 100_000,
});
const resumeAfterMs = 600_000;
const maxResults = 25;
const control = listed('c', 'Control Listed');

const rosterHeader = 'customer_id,type,name,birth_date,countries,end_date';
const partyHeader = 'customer_id,role,type,name,birth_date,countries';

const alertRow = z.object({
  alertId: z.number(),
  customer: z.string(),
  matchId: z.string(),
  state: z.string(),
  verdict: z.string().nullable(),
  absence: z.string().nullable(),
  openedAtMs: z.number(),
});
type Alert = z.infer<typeof alertRow>;

/** Plays a random world through the product and the model; gives every disagreement after each night and after its decisions. */
export async function playWorld(
  site: SmallSite,
  size: WorldSize,
): Promise<{ mismatches: Mismatch[]; compared: Record<string, number> }> {
  // The embedded database knows one login, so that no two people can decide there.
  const takesTwo = size.seed % 2 === 0 && site.database.dialect === 'postgres';
  const second = takesTwo ? await openSecond(site.database) : null;
  const player = new WorldPlayer(site, size, second);
  for (const index of player.nights.keys()) await player.playNight(index);
  await second?.database.close();
  return player;
}

type Second = Awaited<ReturnType<typeof openSecond>>;

/** Searches by their type and name. */
type Searches = ReadonlySet<string>;

const toSearchKey = (type: string | null, name: string | null): string => `${type}/${name}`;

/** The customers whom the budget has left out of the last plan: whom it takes is not what the model is about. */
const readLeftOut = async (database: Database): Promise<ReadonlySet<string>> =>
  new Set(
    await readColumn(
      database,
      z.string(),
      `select distinct reference from screening join party using (party_id) join customer using (customer_id)
       where run_id = (select max(run_id) from run) and outcome_reason = 'over_budget'`,
    ),
  );

/** The facts of the listed party that the last decision about an alert was made on. */
async function readSeen(database: Database, alertId: number, otherwise: ModelAlert['listed']) {
  const [seen] = await database.query(
    z.object({ listed: seenFactsSchema.shape.listed }),
    sql`select seen -> 'listed' as listed from disposition_with_text
     where alert_id = ${alertId} and seen is not null order by disposition_id desc limit 1`,
  );
  return seen?.listed ?? otherwise;
}

class WorldPlayer {
  readonly nights: readonly WorldNight[];
  readonly mismatches: Mismatch[] = [];
  readonly compared = { nights: 0, held: 0, stopped: 0, abandoned: 0, accepted: 0, states: 0, alerts: 0, decisions: 0 };
  readonly #site: SmallSite;
  readonly #size: WorldSize;
  readonly #second: Second | null;
  readonly #roster: RosterSettings;
  readonly #model = createStateModel(rules);
  /** What the run that nobody has resumed leaves to the next one. */
  #left: Searches | null = null;

  constructor(site: SmallSite, size: WorldSize, second: Second | null) {
    this.#site = site;
    this.#size = size;
    this.#second = second;
    this.#roster = toWorldRoster(site.roster);
    this.nights = makeWorldNights(size);
  }

  async playNight(index: number): Promise<void> {
    const [site, model, second] = [this.#site, this.#model, this.#second];
    const night = this.nights[index];
    if (night === undefined) return;
    const app = await this.#work(index);
    await writeRosterFiles(this.#roster, night);
    playService(site, night);
    if (second !== null && index > 0) await acceptAsTwo(app, second);
    const left = this.#left;
    this.#left = null;
    if (left !== null) {
      this.compared.abandoned += 1;
      model.applyLeft(({ type, name }) => left.has(toSearchKey(type, name)), app.clock.now().getTime());
    }
    const hasNewSettings = night.scoreStep !== (this.nights[index - 1] ?? night).scoreStep;
    const begin = (reliance: Reliance, isLeft = false): void => {
      const atMs = app.clock.now().getTime();
      model.beginNight({ atMs, reliance, hasNewSettings, rows: night.rows, search: toSearch(night) }, isLeft);
    };
    if (night.course === 'whole') {
      const { runId } = await site.run(app, { roster: this.#roster, acceptRoster: await makeAcceptance(site) });
      // Whether the bounds find every such night is measured elsewhere; here the states are compared that follow from it.
      const isHeld = await isLastRunHeld(site.database);
      begin(isHeld ? 'held' : night.reliance === 'held' ? 'relied_on' : night.reliance);
      model.applyAnswers();
      await this.#compareAndDecide(app, index, 'run');
      if (isHeld) this.compared.held += 1;
      if (isHeld && night.isAccepted && second === null) await this.#accept(app, index, runId);
      return;
    }
    const { applied, proven, before, isOpen, isLeft } = await this.#stop(app, night);
    begin('relied_on', isLeft);
    // A namesake of theirs may have been searched for.
    const leftOut = await readLeftOut(site.database);
    model.applyAnswers(({ type, name }, customer) => applied.has(toSearchKey(type, name)) && !leftOut.has(customer));
    this.compared.stopped += 1;
    await this.#compareAndDecide(app, index, night.course);
    if (!isOpen) return;
    if (!night.isResumed) {
      this.#left = new Set([...proven].filter((search) => !applied.has(search)));
      return;
    }
    const resumed = await this.#work(index, resumeAfterMs);
    playService(site, night);
    const { state } = await site.run(resumed, { roster: this.#roster, acceptRoster: await makeAcceptance(site) });
    // The plan has left out who was beyond the budget, and the rest of it may have met an outage.
    const answered = this.#readProven(before);
    model.applyLeft(({ type, name }, customer) => {
      const search = toSearchKey(type, name);
      return answered.has(search) && !applied.has(search) && !leftOut.has(customer);
    }, resumed.clock.now().getTime());
    if (state === 'stopped') this.#left = new Set();
    await this.#compareAndDecide(resumed, index, 'resumed run');
  }

  /** Lets the run of a night stop; gives the searches whose answers apply then, those that are proven, and whether the run may go on. */
  async #stop(app: TestAppContext, night: WorldNight) {
    const { course, rows, stopsAt } = night;
    const { sandbox, database, run } = this.#site;
    const least = Math.max(1, Math.floor(rows.size * stopsAt));
    const before = sandbox.ledger().length;
    const stop = new AbortController();
    let goodCalls = Number.POSITIVE_INFINITY;
    const listening = listenAlong(app, (event) => {
      if (event.kind !== 'progress' || event.stage !== 'screen' || event.done !== least) return;
      if (course === 'signal' || course === 'kill') stop.abort(new Error('asked to stop'));
      if (course === 'outage') sandbox.setFaults([{ path: '/aml/search', status: 503, times: 1_000_000 }]);
      if (course !== 'controls_fail') return;
      goodCalls = sandbox.ledger().length - before;
      sandbox.setWorld({ watchlist: [...night.watchlist], dossiers: [], ranking: night.ranking });
    });
    const limit = course === 'limit' ? { maxSearches: least } : {};
    const budget = { ...app.settings.budget, ...(course === 'budget' ? { maxSearchesPerRun: least } : {}) };
    const limited = { ...listening, settings: { ...app.settings, budget } };
    const options = { roster: this.#roster, acceptRoster: await makeAcceptance(this.#site), ...limit };
    const summary = await run(limited, options, stop.signal);
    if (course === 'kill') await leaveAsKilled(database);
    const proven = this.#readProven(before, goodCalls);
    // After a signal or a kill, whoever takes the roster next applies what is proven.
    const isLeft = summary.haltedBy === 'signal';
    const applied: Searches = isLeft ? new Set() : proven;
    return { applied, proven, before, isOpen: summary.state === 'stopped', isLeft };
  }

  /** The searches since the first `before` calls that the service answered before the last control search that passed. */
  #readProven(before: number, goodCalls = Number.POSITIVE_INFINITY): Searches {
    const calls = this.#site.sandbox.ledger().slice(before);
    const isControl = (call: LedgerEntry): boolean => call.searchName === control.name;
    const lastRound = calls.findLastIndex((call, place) => isControl(call) && call.worked && place < goodCalls);
    return new Set(
      calls
        .slice(0, Math.max(0, lastRound))
        .filter((call) => call.worked && !isControl(call))
        .map(({ searchType, searchName }) => toSearchKey(searchType, searchName)),
    );
  }

  async #accept(app: TestAppContext, index: number, runId: string): Promise<void> {
    await acceptRun(app, runId, await makeAcceptance(app), new AbortController().signal);
    this.#model.applyAnswers(undefined, 'relied_on');
    this.compared.accepted += 1;
    await this.#compareAndDecide(app, index, 'acceptance');
  }

  #work(index: number, afterMs = 0): Promise<TestAppContext> {
    const { scoreStep = 0.02, course = 'whole' } = this.nights[index] ?? {};
    const review = reviewSettingsSchema.parse({ fourEyes: this.#second === null ? [] : severities });
    return this.#site.work({
      offsetMs: (index + 1 - this.nights.length) * nightMs + afterMs,
      maxAttempts: 2,
      // One after another, so that the service's own list of calls says which came before a control search.
      rate: { perSecond: 5_000, concurrency: course === 'whole' ? 8 : 1 },
      settings: {
        rosters: [this.#roster],
        review,
        changes: changeSettingsSchema.parse({ scoreStep }),
        screening: {
          cadenceHours: 24,
          leaveAfterDays: rules.leaveAfterDays,
          controlsEvery: Math.ceil(this.#size.customers / 8),
          reuseMaxAge: 0,
          hold,
        },
      },
    });
  }

  /** Compares all of the product with the model, before and after what reviewers then decide. */
  async #compareAndDecide(app: TestAppContext, index: number, when: string): Promise<void> {
    const alerts = await this.#compare(app, `${index + 1} ${when}`);
    await this.#decide(app, index, when, alerts);
    await this.#compare(app, `${index + 1} ${when}, decisions`);
  }

  async #compare(app: TestAppContext, moment: string): Promise<readonly Alert[]> {
    await expectAgreement(app);
    const alerts = await readAlerts(this.#site.database);
    const states = await readStates(app);
    const found = compareAll(this.#model, { states, alerts, atMs: app.clock.now().getTime() });
    const { seed } = this.#size;
    this.mismatches.push(...found.mismatches.map((mismatch) => ({ ...mismatch, seed, moment })));
    this.compared.nights += 1;
    this.compared.states += found.states;
    this.compared.alerts += found.alerts;
    return alerts;
  }

  async #decide(app: TestAppContext, index: number, when: string, alerts: readonly Alert[]): Promise<void> {
    const { seed } = this.#size;
    const second = this.#second;
    const takesTwo = second !== null;
    const atMs = app.clock.now().getTime();
    for (const alert of this.#model.readAlerts()) {
      const choice = chooseDecision(seed, `${index} ${when}`, alert, takesTwo);
      const { customer, listed: match } = alert;
      if (!choice) continue;
      const expiresAtMs = choice.expires ? atMs + 2 * 24 * hourMs : null;
      const stored = findAlerts(alert, alerts)[0];
      const result = stored
        ? await decideAs({ ...app, second }, stored.alertId, choice, expiresAtMs).catch((error: unknown) =>
            String(error),
          )
        : 'no stored';
      const isPending = takesTwo && !choice.hasSecond && choice.verdict !== 'inconclusive';
      if (isPending) this.#model.propose(customer, alert.party, match.id, choice.verdict);
      else {
        const seen = stored === undefined ? match : await readSeen(app.database, stored.alertId, match);
        this.#model.decide(alert, { verdict: choice.verdict, expiresAtMs, seen });
      }
      this.compared.decisions += 1;
      if (['decided', 'approved', 'undone', 'same_already', isPending ? 'proposed' : ''].includes(result)) continue;
      const expected = `${choice.verdict} about ${match.id} ${alert.absences.join(' or ')}`;
      const moment = `${index + 1} ${when}, decisions`;
      this.mismatches.push({ kind: 'refused', seed, customer, moment, expected, found: result });
    }
  }
}

/** As a process leaves its run that is killed instead of stopped. */
const leaveAsKilled = (database: Database): Promise<number> =>
  database.execute(`update run set state = 'running', finished_at = null, sums = null where state = 'stopped'`);

const isLastRunHeld = async (database: Database): Promise<boolean> =>
  (
    await database.query(
      z.object({}),
      `select from run_hold where kind = 'answers' and run_id = (select max(run_id) from run)`,
    )
  ).length > 0;

function toWorldRoster(roster: RosterSettings): RosterSettings {
  const csv = { delimiter: 'auto', encoding: 'auto', header: true } as const;
  const parties = [{ csv: { ...csv, path: join(dirname(fileOf(roster)), 'parties.csv') }, columns: {} }];
  return { ...roster, columns: { endDate: 'end_date' }, parties };
}

async function writeRosterFiles(roster: RosterSettings, { rows }: WorldNight): Promise<void> {
  const toCells = ({ type, name, birthDate, countries }: PartyRecord) => [
    type,
    name,
    birthDate ?? '',
    countries.join(';'),
  ];
  const lines: string[] = [];
  const partyLines: string[] = [];
  for (const [id, row] of rows) {
    if (row === 'rejected') {
      lines.push(`${id},person,,,,`);
      continue;
    }
    for (const party of row.parties) {
      if (party.role === 'customer') lines.push([id, ...toCells(party), row.hasEnded ? '2001-01-01' : ''].join(','));
      else partyLines.push([id, party.role, ...toCells(party)].join(','));
    }
  }
  await writeFile(fileOf(roster), `${[rosterHeader, ...lines].join('\n')}\n`);
  await writeFile(join(dirname(fileOf(roster)), 'parties.csv'), `${[partyHeader, ...partyLines].join('\n')}\n`);
}

function playService({ sandbox }: SmallSite, { watchlist, failing, ranking, reliance }: WorldNight): void {
  const controls = reliance === 'control_failed' ? [] : [control];
  sandbox.setWorld({ watchlist: [...watchlist, ...controls], dossiers: [], ranking });
  sandbox.setFaults([...failing].map(([name, status]) => ({ path: '/aml/search', name, status, times: 1_000 })));
}

/** What the service answers that night, without rank and score; as the sandbox does, it lists 25 at most. */
function toSearch({ watchlist, failing, ranking }: WorldNight) {
  const search = createSearch(watchlist, ranking);
  return ({ type, name }: PartyRecord) => {
    if (failing.has(name)) return 'failed';
    const results = search(type, name).map(({ birth_date, country, match, ...result }) => ({
      ...result,
      birthDates: birth_date,
      countries: country,
      isHit: match,
    }));
    return { results: results.slice(0, maxResults), isCut: results.length > maxResults };
  };
}

const readAlerts = (database: Database): Promise<readonly Alert[]> =>
  database.query(
    alertRow,
    `select alert.alert_id as "alertId", customer.reference as customer, alert.match_id as "matchId", alert.state, disposition.verdict,
       alert.absence, extract(epoch from alert.opened_at)::float8 * 1000 as "openedAtMs"
     from alert_with_match alert join party using (party_id) join customer using (customer_id)
     left join disposition on disposition.disposition_id = alert.disposition_id
     order by alert.alert_id`,
  );

async function readStates({ database, clock }: TestAppContext): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query(
    z.object({ reference: z.string(), state: z.string() }),
    sql`select standing.reference, ${stateAtSql(clock.now())} as state
     from customer_standing standing
     join shown_account shown on shown.roster_id = standing.roster_id and shown.account_id is not distinct from standing.account_id
     where standing.in_scope
     union all select reference, 'not_screened' from unaccepted_customer`,
  );
  return new Map(rows.map(({ reference, state }) => [reference, state]));
}

/** Another reviewer, under a login with the rights of one. */
async function openSecond(owner: Database): Promise<{ name: string; database: Database }> {
  const { login, url } = await createLogin(owner, 'second', (name) =>
    [toReviewerGrants(name), ...toAccepterGrants(name)].join('\n'),
  );
  return { name: login, database: await openDatabase({ url }, login) };
}

/** Accepts what has changed in the settings, by a second person too where that takes two. */
async function acceptAsTwo(app: TestAppContext, second: Second): Promise<void> {
  const acceptance = await makeAcceptance(app);
  const { isProposed } = await acceptSettings(app, acceptance);
  if (!isProposed) return;
  const by = { name: second.name, isAttested: false };
  await acceptSettings({ ...app, database: second.database }, { ...acceptance, by });
}

/** Decides as one person, or as two where that takes two; gives what became of it in the end. */
async function decideAs(
  app: TestAppContext & { second: Second | null },
  alertId: number,
  choice: Choice,
  expiresAtMs: number | null,
): Promise<string> {
  const { database, clock, settings, second } = app;
  const { organisationId, reviewKey } = await readReviewOrganisation(database, settings.organisation);
  const now = clock.now();
  const isAttested = database.dialect === 'embedded';
  const said = { reason: 'by chance', comment: null, origin: 'review', sheetId: null } as const;
  let became = 'nothing';
  const first = { database, reviewer: await findReviewer(database, isAttested ? 'ada' : undefined) };
  const people =
    choice.hasSecond && second !== null
      ? [first, { database: second.database, reviewer: { name: second.name, isAttested } }]
      : [first];
  for (const { database: own, reviewer } of people) {
    const held = await database.transaction((transaction) => holdAlerts(transaction, organisationId, [alertId]));
    const alert = held.get(alertId);
    if (!alert) return 'unknown alert';
    const seenVersion = toAlertSeenVersion(alert, reviewKey);
    if (choice.verdict === 'undo') {
      const mark = toAlertCode({ alertId, seenVersion }, reviewKey);
      const result = await undoDecision(app, { mark, reviewer, reason: 'by chance' });
      return result.kind === 'refused' ? result.reason : result.kind;
    }
    const { verdict } = choice;
    const expiresAt = expiresAtMs === null || verdict === 'inconclusive' ? null : new Date(expiresAtMs);
    const [result] = await own.transaction(async (transaction) => {
      const decisions = [{ alertId, verdict, seenVersion, expiresAt, ...said }];
      return decideAlerts(
        transaction,
        { organisationId, reviewKey, reviewer, now, review: settings.review },
        decisions,
      );
    });
    became = result?.kind === 'refused' ? result.reason : (result?.kind ?? 'nothing');
    if (became === 'decided') break;
  }
  return became;
}

type Found = Pick<Mismatch, 'kind' | 'customer' | 'expected' | 'found'>;

function compareAll(
  model: StateModel,
  product: { states: ReadonlyMap<string, string>; alerts: readonly Alert[]; atMs: number },
): { mismatches: Found[]; states: number; alerts: number } {
  const states = model.readStates(product.atMs);
  const mismatches = [...new Set([...states.keys(), ...product.states.keys()])].flatMap((customer): Found[] => {
    const expected = states.get(customer) ?? 'out of scope';
    const found = product.states.get(customer) ?? 'out of scope';
    return expected === found ? [] : [{ kind: 'state', customer, expected, found }];
  });
  const unexplained = new Set(product.alerts.filter(isWaiting));
  const alerts = model.readAlerts();
  for (const alert of alerts) {
    const mine = findAlerts(alert, product.alerts);
    for (const stored of mine) unexplained.delete(stored);
    const others = alerts.filter((other) => other !== alert && other.customer === alert.customer && !other.isClosed);
    const taken = others.flatMap(({ ids }) => ids);
    mismatches.push(...compareAlert(alert, mine, taken));
  }
  for (const { customer, matchId, state } of unexplained) {
    mismatches.push({ kind: 'surplus', customer, expected: `nothing waits about ${matchId}`, found: state });
  }
  return { mismatches, states: states.size, alerts: alerts.length };
}

/** The alerts that may be an alert, best first: those with its id of now, those that wait, and the newest. */
function findAlerts({ customer, listed: match, ids }: ModelAlert, alerts: readonly Alert[]): readonly Alert[] {
  const toRank = (stored: Alert): number => Number(stored.matchId === match.id) * 2 + Number(isWaiting(stored));
  return alerts
    .filter((stored) => stored.customer === customer && ids.includes(stored.matchId))
    .toSorted((one, other) => toRank(other) - toRank(one) || other.alertId - one.alertId);
}

const isWaiting = ({ state }: Alert): boolean => state === 'open' || state === 'pending_approval';

/** Compares an alert of the model with those that may be it; ids that are `taken` may be of other alerts of the customer now. */
function compareAlert(alert: ModelAlert, alerts: readonly Alert[], taken: readonly string[]): Found[] {
  const { customer, listed: match, absences } = alert;
  const [stored, ...others] = alerts;
  const shown = stored
    ? `${stored.state}${stored.verdict ? ` (${stored.verdict})` : ''}${stored.absence ? `, ${stored.absence}` : ''}`
    : 'nothing';
  const differ = (kind: Found['kind'], expected: string, found = shown): Found => ({
    kind,
    customer,
    expected: `${match.id} ${expected} ${absences.join(' or ')}`,
    found,
  });
  if (others.some((other) => isWaiting(other) && other.matchId === stored?.matchId))
    return [differ('alert', 'once', 'twice')];
  if (alert.isClosed) {
    const own =
      stored && taken.includes(stored.matchId) ? alerts.find(({ state }) => state === 'no_longer_matched') : stored;
    return stored && own?.state !== 'no_longer_matched' ? [differ('decision', 'closed')] : [];
  }
  if (!alert.waits) {
    const state = alert.decided === 'true_match' ? 'true_match' : 'false_positive';
    return stored?.state === state && stored.verdict === alert.decided
      ? []
      : [differ('decision', `decided ${alert.decided}`)];
  }
  if (!stored || !isWaiting(stored)) return [differ('alert', 'waits')];
  if (absences.length === 0 ? stored.absence !== null : !absences.some((reason) => reason === stored.absence))
    return [differ('absence', 'waits')];
  const since = alert.waitsSinceMs;
  if (since === null || Math.abs(stored.openedAtMs - since) < hourMs) return [];
  return [differ('age', `since ${new Date(since).toISOString()}`, new Date(stored.openedAtMs).toISOString())];
}

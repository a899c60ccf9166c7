import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError } from '../store/database/database.js';
import { toLeaseKey } from '../store/database/leases.js';
import { takeTry } from '../store/night/account-pace.js';
import { dropDeadWorkers, isAble, readWorkers, reportWorker, requireWorkerRights } from '../store/night/chunks.js';
import { type Account, type Organisation, readAccountName } from '../store/organisations.js';
import { identifyAccount } from './account.js';
import type { AppContext } from './app-context.js';
import { RunHalted } from './halt.js';
import { searchChunks } from './screening/chunk-search.js';
import { toRetryDelayMs } from './screening/outages.js';
import { type HeldLease, openKeyedOrganisation, withLease } from './session.js';

const beatMs = 1_000;
// By then other workers have noticed an outage of the service too.
const noticedMs = 4_000;
// One worker tries the service for all so often, with a search that ends within 20 seconds.
const tryEveryMs = 20_000;
const longestTryMs = 21_000;

/**
 * Makes searches for runs of this organisation and account, on this and on other hosts, until a signal. Only runs of this version and of these
 * settings count. Throws RunHalted `account` when the service refuses the key, and ConfigError when the login lacks a right.
 */
export async function runWorker(app: AppContext, signal: AbortSignal): Promise<void> {
  const { organisation } = app.settings;
  await requireWorkerRights(app.database);
  while (!signal.aborted) {
    const key = toLeaseKey('worker', organisation, `${app.owner.split(':')[0]}-${randomBytes(4).toString('hex')}`);
    try {
      await withLease(app, key, signal, (held) => work(app, held));
    } catch (error) {
      if (signal.aborted && error === signal.reason) return;
      if (!(error instanceof DatabaseError) || error.code !== 'commit_undecided') throw error;
      // Under another lease, so that nobody waits for a chunk that this process may have claimed without knowing it.
      const message =
        'the database server crashed during a commit, whose outcome is unknown; the worker continues from the stored state';
      app.emit({ kind: 'warning', runId: null, code: 'commit_undecided', message });
    }
  }
}

async function work(app: AppContext, { lease, signal }: HeldLease): Promise<void> {
  const client = app.client();
  const organisation = await openKeyedOrganisation(app);
  const account = await awaitAccount(app, organisation, signal);
  if (account === null) return;
  await dropDeadWorkers(app.database);
  const reach = new Reach(app, lease, account.accountId);
  const leave = client.listen((event) => {
    if (event.kind === 'outage_began') reach.beginOutage();
    if (event.kind === 'outage_ended') reach.endOutage();
  });
  await reach.look();
  const name = await readAccountName(app.database, account.accountId);
  app.emit({ kind: 'worker_ready', account: name, ...app.settings.service.rate });
  const searcher = { app, client, organisation, account, lease, reach, numbers: new Map(), ledgers: new Map() };
  const ending = new AbortController();
  const beating = beat(reach, AbortSignal.any([signal, ending.signal]));
  try {
    await searchChunks(searcher, { signal, mayClaim: () => reach.mayClaim, giveBack: () => reach.giveBack });
  } finally {
    ending.abort();
    await beating;
    leave();
  }
  if (signal.aborted) throw signal.reason;
}

/** The account of the key, also after an outage of the service; null after a signal. */
async function awaitAccount(app: AppContext, organisation: Organisation, signal: AbortSignal): Promise<Account | null> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    try {
      return await identifyAccount(app, organisation, app.client(), signal);
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof RunHalted) || error.code !== 'outage') throw error;
      app.emit({ kind: 'warning', runId: null, code: 'waiting_for_service', message: error.message });
      await delay(toRetryDelayMs(turn), undefined, { signal }).catch(() => undefined);
    }
  }
  return null;
}

async function beat(reach: Reach, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(beatMs, undefined, { signal }).catch(() => undefined);
    // The next beat comes in a second; a database that stays away ends the searches.
    await reach.look().catch(() => undefined);
  }
}

/**
 * Whether this process takes chunks. While it finds the service out of reach, it gives them back, and takes some again only to try: when other
 * workers are answered, or when its turn comes to try the service for all. So an outage costs little more than the calls of one process, and a
 * worker whose own network is broken holds nothing up.
 */
class Reach {
  readonly #app: AppContext;
  readonly #lease: HeldLease['lease'];
  readonly #accountId: number;
  #outageSince: Date | null = null;
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** Until when it keeps chunks although it is in an outage. */
  #triesUntilMs = 0;
  /** When it may try again because others are answered. */
  #nextTryMs = 0;
  #tries = 0;
  #giveBack = new AbortController();
  #mayClaim = true;

  constructor(app: AppContext, lease: HeldLease['lease'], accountId: number) {
    this.#app = app;
    this.#lease = lease;
    this.#accountId = accountId;
  }

  /** Whether this process may take chunks. */
  get mayClaim(): boolean {
    return this.#mayClaim;
  }

  /** Aborted when this process must give back the chunks that it has. */
  get giveBack(): AbortSignal {
    return this.#giveBack.signal;
  }

  /** An answer to a search. */
  noteAnswer(): void {
    this.#answeredMs = performance.now();
  }

  beginOutage(): void {
    this.#outageSince ??= this.#app.clock.now();
    this.#triesUntilMs = performance.now() + noticedMs;
  }

  endOutage(): void {
    this.#outageSince = null;
    this.#tries = 0;
    this.#nextTryMs = 0;
    this.#takeChunks();
  }

  /** Reports the state of this process, and decides what it does in an outage. */
  async look(): Promise<void> {
    const { database, settings, version, settingsDigest } = this.#app;
    const nowMs = performance.now();
    const outageSince = this.#outageSince?.toISOString() ?? null;
    const isAnswered = outageSince === null && nowMs - this.#answeredMs < noticedMs;
    const own = { version, settingsDigest, accountId: this.#accountId };
    await reportWorker(database, this.#lease, { ...own, outageSince, isAnswered }, this.#app.clock.now());
    const alike = (await readWorkers(database, settings.organisation)).filter((one) => isAble(one, own));
    const othersReach = alike.some((one) => one.isAnswered);
    const isForAll = !othersReach && alike.some((one) => one.outageSince !== null);
    if (outageSince === null && !isForAll) {
      this.#mayClaim = true;
      return;
    }
    if (nowMs < this.#triesUntilMs) return;
    if (outageSince !== null && !this.giveBack.aborted) return this.#leave();
    const isDue = othersReach && nowMs >= this.#nextTryMs;
    if (isDue || (await takeTry(database, own, tryEveryMs))) this.#tryAgain();
    else this.#mayClaim = false;
  }

  #leave(): void {
    this.#mayClaim = false;
    this.#giveBack.abort(new RunHalted('signal', 'this worker does not reach the service'));
    const message = 'this worker does not reach the service: it gives its chunks back, and tries again';
    this.#app.emit({ kind: 'warning', runId: null, code: 'worker_cut_off', message });
  }

  #tryAgain(): void {
    const nowMs = performance.now();
    this.#nextTryMs = nowMs + toRetryDelayMs(this.#tries);
    this.#tries += 1;
    this.#triesUntilMs = nowMs + longestTryMs;
    this.#takeChunks();
  }

  #takeChunks(): void {
    if (this.giveBack.aborted) this.#giveBack = new AbortController();
    this.#mayClaim = true;
  }
}

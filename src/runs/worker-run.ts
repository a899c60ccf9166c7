import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { toLeaseKey } from '../store/database/leases.js';
import { countWorkers, reportWorker } from '../store/night/chunks.js';
import { type Account, readAccountName } from '../store/organisations.js';
import { identifyAccount } from './account.js';
import type { AppContext } from './app-context.js';
import { RunHalted } from './halt.js';
import { searchChunks } from './screening/chunk-search.js';
import { type HeldLease, openKeyedOrganisation, withLease } from './session.js';

/** Two, so that the end of one leaves no gap. */
export const chunksAtOnce = 2;
const beatMs = 1_000;
// By then other workers that are cut off as well have noticed it too.
const aloneAfterMs = 3_000;
const probesMs = [5_000, 10_000, 20_000];

/**
 * Makes searches for runs of this organisation and account, on this and on other hosts, until a signal. Only runs of this version and of these
 * settings count. Throws RunHalted `account` when the service refuses the key.
 */
export async function runWorker(app: AppContext, signal: AbortSignal): Promise<void> {
  const { organisation } = app.settings;
  const key = toLeaseKey('worker', organisation, `${app.owner.split(':')[0]}-${randomBytes(4).toString('hex')}`);
  await withLease(app, key, signal, (held) => work(app, held)).catch((error: unknown) => {
    if (!signal.aborted || error !== signal.reason) throw error;
  });
}

async function work(app: AppContext, { lease, signal }: HeldLease): Promise<void> {
  const client = app.client();
  const organisation = await openKeyedOrganisation(app);
  const account = await awaitAccount(app, signal);
  if (account === null) return;
  const failing = new AbortController();
  const all = AbortSignal.any([signal, failing.signal]);
  const reach = new Reach(app, lease);
  const leave = client.listen((event) => {
    if (event.kind === 'outage_began') reach.noteOutage();
    if (event.kind === 'outage_ended') reach.noteAnswer();
  });
  await reach.look(all);
  const name = await readAccountName(app.database, account.accountId);
  app.emit({ kind: 'worker_ready', account: name, ...app.settings.service.rate });
  const searcher = { app, client, organisation, account, lease, numbers: new Map(), reserves: new Map() };
  const parts = { signal: all, mayClaim: () => !reach.isCutOff, giveBack: () => reach.cutOff };
  const loops = Array.from({ length: chunksAtOnce }, () => searchChunks(searcher, parts));
  const beating = beat(reach, all);
  try {
    await Promise.all(loops);
  } finally {
    // What the other loop has in flight is saved before the lease is given up.
    failing.abort();
    await Promise.allSettled([...loops, beating]);
    leave();
  }
  if (signal.aborted) throw signal.reason;
}

/** The account of the key, also after an outage of the service; null after a signal. */
async function awaitAccount(app: AppContext, signal: AbortSignal): Promise<Account | null> {
  const organisation = await openKeyedOrganisation(app);
  for (let turn = 0; !signal.aborted; turn += 1) {
    try {
      return await identifyAccount(app, organisation, app.client(), signal);
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof RunHalted) || error.code !== 'outage') throw error;
      app.emit({ kind: 'warning', runId: null, code: 'waiting_for_service', message: error.message });
      await delay(probesMs[Math.min(turn, probesMs.length - 1)], undefined, { signal }).catch(() => undefined);
    }
  }
  return null;
}

async function beat(reach: Reach, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(beatMs, undefined, { signal }).catch(() => undefined);
    // The next beat comes in a second; a database that stays away ends the searches.
    await reach.look(signal).catch(() => undefined);
  }
}

/** Whether this process reaches the service, or only others do: then it takes no chunks until it does. */
class Reach {
  readonly #app: AppContext;
  readonly #lease: HeldLease['lease'];
  #outageSince: Date | null = null;
  #sinceMs = 0;
  #cutOff = new AbortController();
  #probes = 0;
  #probeAtMs = 0;

  constructor(app: AppContext, lease: HeldLease['lease']) {
    this.#app = app;
    this.#lease = lease;
  }

  get isCutOff(): boolean {
    return this.#cutOff.signal.aborted;
  }

  /** Aborted when this process must give back its chunks. */
  get cutOff(): AbortSignal {
    return this.#cutOff.signal;
  }

  noteOutage(): void {
    this.#outageSince ??= this.#app.clock.now();
    this.#sinceMs = performance.now();
  }

  noteAnswer(): void {
    this.#outageSince = null;
    this.#probes = 0;
    if (!this.isCutOff) return;
    this.#cutOff = new AbortController();
    this.#warn('service_is_back', 'this worker reaches the service again, and takes chunks');
  }

  /** Reports the state of this process, and compares it with the others; `signal` ends the question to the service. */
  async look(signal: AbortSignal): Promise<void> {
    const { database, settings, version, settingsDigest } = this.#app;
    await reportWorker(database, this.#lease, { version, settingsDigest, outageSince: this.#outageSince });
    if (this.#outageSince === null) return;
    if (this.isCutOff) return this.#probe(signal);
    if (performance.now() - this.#sinceMs < aloneAfterMs) return;
    const { able, cutOff } = await countWorkers(database, settings.organisation, this.#app);
    if (able <= cutOff) return;
    this.#cutOff.abort(new RunHalted('signal', 'this worker does not reach the service'));
    this.#warn(
      'worker_cut_off',
      'other workers reach the service and this one does not: it takes no chunks until it does',
    );
  }

  /** Asks the service whose key it is, which costs nothing. */
  async #probe(signal: AbortSignal): Promise<void> {
    if (performance.now() < this.#probeAtMs) return;
    this.#probeAtMs = performance.now() + (probesMs[Math.min(this.#probes, probesMs.length - 1)] ?? 0);
    this.#probes += 1;
    const isAnswered = await this.#app
      .client()
      .apiKeys.public({ maxRetries: 0, maxWaitMs: beatMs, timeoutMs: 10_000, signal })
      .then(
        () => true,
        () => false,
      );
    if (isAnswered) this.noteAnswer();
  }

  #warn(code: string, message: string): void {
    this.#app.emit({ kind: 'warning', runId: null, code, message });
  }
}

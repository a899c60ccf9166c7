import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { RunLockedError, StoreError } from '../../errors.js';

const answerTimeoutMs = 2_000;
const retryMs = 20;
const strayAgeMs = 60_000;
/** Part of `staleMs` after which an owner that cannot write its heartbeat gives up: before anybody else takes the folder. */
const unconfirmedShare = 2 / 3;

/** The kernel that this process runs on, and the pace of heartbeats between kernels. */
interface Machine {
  /** Equal for all containers of one kernel; sockets reach no further. */
  boot: string;
  beatMs: number;
  /** How long the heartbeat of an owner on another kernel must stand still before its folder is taken. */
  staleMs: number;
}

/** This machine; an owner on another one is dead after 30 seconds without a heartbeat. */
export const thisMachine: Machine = { boot: readBoot(), beatMs: 1_000, staleMs: 30_000 };

function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return hostname();
  }
}

const ownerCard = z.object({
  /** The state of the claim and the number of its heartbeat, of fixed width: it is overwritten in place. */
  beat: z.string().default(''),
  pid: z.number(),
  host: z.string(),
  /** Absent in cards of versions that knew one kernel only. */
  boot: z.string().optional(),
  command: z.string(),
  since: z.string(),
  isBrief: z.boolean().default(false),
});

/** Who owns or claims a folder, for an operator; `since` is an ISO 8601 time, `isBrief` whether it is worth waiting for. */
type OwnerCard = z.infer<typeof ownerCard>;

/** A live claim on a folder: a socket answers for it on this kernel, a heartbeat in its card on others. */
interface FolderClaim {
  readonly id: string;
  /** From now on this process owns the folder. */
  own(): void;
  /** Whether the claim still holds: not once another host has removed its card. Reads the folder if the last look is older than `maxAgeMs` (default: one heartbeat). */
  isHeld(maxAgeMs?: number): boolean;
  /** Ends the claim; a second call does nothing. */
  withdraw(): Promise<void>;
}

/** File names of a claim: `socket` appears in the folder only while or after somebody listened on it. */
const claimFile = {
  socket: (id: string): string => `owner-${id}.sock`,
  unborn: (id: string): string => `owner-${id}.new`,
  card: (id: string): string => `owner-${id}.json`,
};
const strayName = /^owner-([0-9a-f]+)\.(?:new|json)$/;
const socketName = /^owner-([0-9a-f]+)\.sock$/;
const beatOffset = '{"beat":"'.length;

type ClaimState = 'claiming' | 'owning';

const toBeat = (state: ClaimState, count: number): string => `${state.padEnd(8)} ${String(count).padStart(12, '0')}`;

/** Publishes a claim under a name that is never used again; throws StoreError when the folder cannot hold a socket. */
async function publishClaim(folder: string, command: string, isBrief: boolean, machine: Machine): Promise<FolderClaim> {
  const id = randomBytes(12).toString('hex');
  let state: ClaimState = 'claiming';
  const card: OwnerCard = {
    beat: toBeat(state, 0),
    pid: process.pid,
    host: hostname(),
    boot: machine.boot,
    command,
    since: new Date().toISOString(),
    isBrief,
  };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.unref();
    // Not left to the other side to close: a stopped one would keep our own release waiting.
    socket.end(`${JSON.stringify({ state, ...card })}\n`, () => socket.destroy());
  });
  const path = join(folder, claimFile.card(id));
  try {
    await withShortPath(folder, (shortFolder) => listen(server, join(shortFolder, claimFile.unborn(id))));
    await writeFile(path, JSON.stringify(card), { mode: 0o600 });
    // Between bind and listen a socket refuses connections, as a dead one does: it gets its public name only after listen.
    await rename(join(folder, claimFile.unborn(id)), join(folder, claimFile.socket(id)));
  } catch (error) {
    await close(server, folder, id);
    throw new StoreError('folder_unusable', `the folder ${folder} cannot hold the socket that locks it`, {
      cause: error,
    });
  }
  const heart = startHeart(path, () => state, machine);
  let withdrawn: Promise<void> | undefined;
  return {
    id,
    own: () => {
      state = 'owning';
      heart.isBeating(0);
    },
    isHeld: heart.isBeating,
    withdraw: () => {
      heart.stop();
      withdrawn ??= close(server, folder, id);
      return withdrawn;
    },
  };
}

/** Overwrites the heartbeat in a card as time passes and whenever it is asked; a card that is gone was removed by another host, for good. */
function startHeart(path: string, state: () => ClaimState, { beatMs, staleMs }: Machine) {
  let count = 0;
  let isLost = false;
  let last = { elapsedMs: performance.now(), clockMs: Date.now() };
  // A process that was stopped sees it on both clocks, a machine that was suspended perhaps on one only.
  const ageMs = (): number => Math.max(performance.now() - last.elapsedMs, Math.abs(Date.now() - last.clockMs));
  const isBeating = (maxAgeMs = beatMs): boolean => {
    if (isLost) return false;
    if (ageMs() < maxAgeMs) return true;
    try {
      // By its name each time: a file that was removed can still be written by a descriptor that is open.
      const card = openSync(path, 'r+');
      try {
        count += 1;
        writeSync(card, toBeat(state(), count), beatOffset);
      } finally {
        closeSync(card);
      }
      last = { elapsedMs: performance.now(), clockMs: Date.now() };
    } catch (error) {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      isLost = isGone || ageMs() > staleMs * unconfirmedShare;
    }
    return !isLost;
  };
  const timer = setInterval(() => isBeating(0), beatMs).unref();
  return { isBeating, stop: () => clearInterval(timer) };
}

async function listen(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, 'listening');
  server.unref();
}

async function close(server: Server, folder: string, id: string): Promise<void> {
  if (server.listening) await new Promise<void>((done) => server.close(() => done()));
  for (const name of Object.values(claimFile)) await rm(join(folder, name(id)), { force: true });
}

/** The ids of all claims published in a folder, dead ones included. */
async function findOwnerIds(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => socketName.exec(name)?.[1] ?? []).sort();
}

/**
 * What is known of a claim: `silent` lives on this kernel but does not answer in time, `unseen` is on another kernel and its heartbeat has
 * not moved yet, for less than the time after which it is dead.
 */
type OwnerAnswer = { state: 'dead'; isForeign: boolean } | { state: ClaimState | 'silent' | 'unseen'; card: OwnerCard };

/** Judges claims on a folder; it remembers the heartbeats of other kernels, and compares no clocks with them. */
class OwnerAssessor {
  readonly #folder: string;
  readonly #machine: Machine;
  readonly #seen = new Map<string, { beat: string; sinceMs: number; hasMoved: boolean }>();

  constructor(folder: string, machine: Machine) {
    this.#folder = folder;
    this.#machine = machine;
  }

  /** What is known of a claim now; answers within two seconds. */
  async ask(id: string): Promise<OwnerAnswer> {
    const card = await this.#readCard(id);
    if (card?.boot !== undefined && card.boot !== this.#machine.boot) return this.#watch(id, card);
    const deadline = Date.now() + answerTimeoutMs;
    for (;;) {
      const reply = await withShortPath(this.#folder, (shortFolder) =>
        readReply(join(shortFolder, claimFile.socket(id)), Math.max(1, deadline - Date.now())),
      );
      // Another host removes the card first: it may still be waiting for the former owner to notice.
      if (reply === 'refused') return { state: 'dead', isForeign: card === undefined };
      if (reply === 'gone') return { state: 'dead', isForeign: false };
      const answer = parseAnswer(reply);
      if (answer) return { state: answer.state, card: answer };
      if (Date.now() >= deadline) return { state: 'silent', card: card ?? unknownOwner };
      // Cut before the answer: the process just ended, which the next attempt shows.
      await delay(retryMs);
    }
  }

  /** Removes what a dead claim left behind. One of another kernel may only be stopped: its card goes first, and it gets the time to notice. */
  async forget(id: string, isForeign: boolean): Promise<void> {
    if (isForeign) {
      await rm(join(this.#folder, claimFile.card(id)), { force: true });
      await delay(3 * this.#machine.beatMs);
    }
    await rm(join(this.#folder, claimFile.socket(id)), { force: true });
    await rm(join(this.#folder, claimFile.card(id)), { force: true });
  }

  #watch(id: string, card: OwnerCard): OwnerAnswer {
    const now = performance.now();
    const seen = this.#seen.get(id);
    if (!seen || seen.beat !== card.beat) {
      this.#seen.set(id, { beat: card.beat, sinceMs: now, hasMoved: seen !== undefined });
    } else if (now - seen.sinceMs > this.#machine.staleMs) {
      return { state: 'dead', isForeign: true };
    }
    const state = card.beat.startsWith('owning') ? 'owning' : 'claiming';
    return { state: this.#seen.get(id)?.hasMoved ? state : 'unseen', card };
  }

  async #readCard(id: string): Promise<OwnerCard | undefined> {
    try {
      return ownerCard.parse(JSON.parse(await readFile(join(this.#folder, claimFile.card(id)), 'utf8')));
    } catch {
      return undefined;
    }
  }
}

const unknownOwner: OwnerCard = {
  beat: '',
  pid: 0,
  host: 'this machine',
  command: 'unknown',
  since: 'an unknown time',
  isBrief: false,
};

/** Removes what processes left behind that were killed while they published their claim; only the owner may call it. */
async function forgetStrays(folder: string): Promise<void> {
  const names = new Set(await readdir(folder));
  for (const name of names) {
    const id = strayName.exec(name)?.[1];
    if (id === undefined || names.has(claimFile.socket(id))) continue;
    const path = join(folder, name);
    const ageMs = await stat(path).then(
      (file) => Date.now() - file.mtimeMs,
      () => 0,
    );
    // A younger one may still be on its way to being published.
    if (ageMs > strayAgeMs) await rm(path, { force: true });
  }
}

/** The bytes sent until the other side or the deadline ended the connection; `refused` only when nobody listens, `gone` when there is no socket. */
function readReply(path: string, timeoutMs: number): Promise<string> {
  return new Promise((done) => {
    let received = '';
    const socket = connect(path);
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') received = 'refused';
      if (error.code === 'ENOENT') received = 'gone';
    });
    socket.on('close', () => {
      clearTimeout(timer);
      done(received);
    });
  });
}

const answerSchema = ownerCard.extend({ state: z.enum(['claiming', 'owning']) });

function parseAnswer(reply: string): z.infer<typeof answerSchema> | undefined {
  try {
    return answerSchema.parse(JSON.parse(reply));
  } catch {
    return undefined;
  }
}

/** What a socket address holds on every Unix we run on (macOS: 103 bytes, Linux: 107). */
const longestAddressBytes = 103;
const longestNameBytes = 40;

/** Runs `work` with a path of the folder that is short enough for sockets in it: its own, or a link in the temporary folder. */
async function withShortPath<T>(folder: string, work: (shortFolder: string) => Promise<T>): Promise<T> {
  const path = resolve(folder);
  if (Buffer.byteLength(path) + 1 + longestNameBytes <= longestAddressBytes) return work(path);
  const link = join(tmpdir(), `ns-${randomBytes(4).toString('hex')}`);
  await symlink(path, link);
  try {
    return await work(link);
  } finally {
    await unlink(link);
  }
}

const pollMs = 50;
const waitMs = 200;
const claimDeadlineMs = 10_000;
/** A living owner on another machine shows a heartbeat within one second: only a longer wait is worth a word. */
const quietMs = 3_000;

/** Proof that this process owns a folder; it ends with `release`, with the process, or when another host has taken the folder. */
export interface FolderLock {
  /**
   * Whether the folder is still this process's own; once it is not, it never is again. Looks into the folder when the last look is older
   * than `maxAgeMs`, by default a second.
   */
  isHeld(maxAgeMs?: number): boolean;
  /** Gives the folder up; a second call does nothing. */
  release(): Promise<void>;
}

/** How a folder is taken. */
export interface FolderWaitPolicy {
  /** Whether it is given back within seconds, so that others wait for it. */
  isBrief?: boolean | undefined;
  /** How long to wait for an owner that gives it back within seconds; for any other nobody waits. */
  maxWaitMs?: number | undefined;
  /** Called once with who is waited for, and for how long at most where that is not `maxWaitMs`. */
  onWait?: ((holder: string, longestMs?: number) => void) | undefined;
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Makes this process the one owner of a folder, for `command` as operators know it. Throws RunLockedError naming the owner when another
 * process owns it (a stopped or busy owner still owns), at once unless that owner is a brief one and it may be waited for; StoreError when the
 * folder cannot hold a socket. Never keeps the process alive.
 *
 * Between processes of one kernel, containers included, a socket shows which process lives. An owner on another machine that shares the folder is
 * known by its heartbeat: it lives while that moves, and is dead when it has stood still for 30 seconds of this process's own watching. An
 * owner that was only stopped finds its claim removed when it wakes up (`isHeld`).
 */
export async function lockFolder(
  folder: string,
  command: string,
  waitPolicy: FolderWaitPolicy = {},
  machine: Machine = thisMachine,
): Promise<FolderLock> {
  const { isBrief = false, maxWaitMs = 0, onWait, signal } = waitPolicy;
  const assessor = new OwnerAssessor(folder, machine);
  const watchedSinceMs = performance.now();
  const waitUntilMs = Date.now() + maxWaitMs;
  let deadline = Date.now() + claimDeadlineMs;
  let isReported = false;
  const onUnseen = (owner: OwnerCard): void => {
    signal?.throwIfAborted();
    if (isReported || performance.now() - watchedSinceMs < quietMs) return;
    isReported = true;
    onWait?.(describeOwner(owner), machine.staleMs);
  };
  for (;;) {
    const claim = await publishClaim(folder, command, isBrief, machine);
    const rival = await contend(folder, claim, { assessor, deadline, onUnseen }).catch(async (error: unknown) => {
      await claim.withdraw();
      throw error;
    });
    if (!rival) {
      await forgetStrays(folder);
      return { isHeld: claim.isHeld, release: () => claim.withdraw() };
    }
    await claim.withdraw();
    // Whoever we gave way to may itself give way; only the one that ends up owning is worth naming.
    const owner = await awaitOwner(folder, rival, { assessor, deadline, onUnseen });
    if (!owner) continue;
    const refused = refusal(folder, owner);
    if (!owner.isBrief || Date.now() >= waitUntilMs) throw refused;
    if (!isReported) onWait?.(refused.holder);
    isReported = true;
    await delay(waitMs);
    signal?.throwIfAborted();
    deadline = Date.now() + claimDeadlineMs;
  }
}

/** How claims are judged: after `deadline` one that is still not settled counts as the owner's; `onUnseen` hears of one that is watched. */
interface Contest {
  assessor: OwnerAssessor;
  deadline: number;
  onUnseen: (owner: OwnerCard) => void;
}

/** Settles a claim against all others: undefined when it has become the owner's, else the rival that stands before it. */
async function contend(folder: string, claim: FolderClaim, contest: Contest): Promise<OwnerCard | undefined> {
  const { assessor } = contest;
  // Every claim is published before its holder looks around, so of two that overlap at least the later one sees the other.
  for (;;) {
    let waiting = false;
    for (const id of await findOwnerIds(folder)) {
      if (id === claim.id) continue;
      const answer = await assessor.ask(id);
      if (answer.state === 'dead') {
        await assessor.forget(id, answer.isForeign);
        // Others may have claimed the folder during the wait for an owner on another machine.
        waiting ||= answer.isForeign;
      } else if (answer.state === 'unseen') {
        contest.onUnseen(answer.card);
        contest.deadline = Date.now() + claimDeadlineMs;
        waiting = true;
      } else if (answer.state !== 'claiming' || id < claim.id || Date.now() > contest.deadline) return answer.card;
      else waiting = true;
    }
    if (!waiting) {
      claim.own();
      return undefined;
    }
    await delay(pollMs);
  }
}

/** The process that owns the folder once the claims are settled; undefined when nobody is left. */
async function awaitOwner(
  folder: string,
  rival: OwnerCard,
  { assessor, deadline, onUnseen }: Contest,
): Promise<OwnerCard | undefined> {
  for (;;) {
    let claiming = false;
    for (const id of await findOwnerIds(folder)) {
      const answer = await assessor.ask(id);
      if (answer.state === 'unseen') onUnseen(answer.card);
      if (answer.state === 'owning' || answer.state === 'silent') return answer.card;
      if (answer.state === 'claiming' || answer.state === 'unseen') claiming = true;
    }
    if (!claiming) return undefined;
    if (Date.now() > deadline) return rival;
    await delay(pollMs);
  }
}

const describeOwner = ({ pid, host, command, since }: OwnerCard): string =>
  `process ${pid} on ${host} (${command}) since ${since}`;

function refusal(folder: string, owner: OwnerCard): RunLockedError {
  const holder = describeOwner(owner);
  return new RunLockedError(`the folder ${folder} is in use by ${holder}`, holder);
}

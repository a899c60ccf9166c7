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
/** The part of `staleMs` after which an owner that cannot write its heartbeat gives up, before another process takes the folder. */
const unconfirmedShare = 2 / 3;

/** The kernel of this process, and the times of heartbeats between kernels. */
interface Machine {
  /** The same for all containers of one kernel; a socket works only within one kernel. */
  boot: string;
  beatMs: number;
  /** After this time without a heartbeat, an owner on another kernel is dead. */
  staleMs: number;
}

/** This machine; an owner on another machine is dead after 30 seconds without a heartbeat. */
export const thisMachine: Machine = { boot: readBoot(), beatMs: 1_000, staleMs: 30_000 };

function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return hostname();
  }
}

const ownerCard = z.object({
  /** The state of the claim and the number of its heartbeat, in a fixed width: it is overwritten in place. */
  beat: z.string().default(''),
  pid: z.number(),
  host: z.string(),
  /** Absent in cards of early versions. */
  boot: z.string().optional(),
  command: z.string(),
  since: z.string(),
  isBrief: z.boolean().default(false),
});

/** The owner or claimant of a folder, for operators; `since` is an ISO 8601 time, `isBrief`: it releases the folder within seconds. */
type OwnerCard = z.infer<typeof ownerCard>;

/** A live claim on a folder, proven by a socket on this kernel and by the heartbeat in its card on others. */
interface FolderClaim {
  readonly id: string;
  /** Makes this process the owner of the folder. */
  own(): void;
  /** Whether no other host has removed the card. Reads the folder if the last check is older than `maxAgeMs` (default: one heartbeat). */
  isHeld(maxAgeMs?: number): boolean;
  /** Ends the claim; a second call does nothing. */
  withdraw(): Promise<void>;
}

/** The file names of a claim; `socket` exists only once a process has listened on it. */
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

/** Publishes a claim under a unique name; throws StoreError when the folder cannot hold a socket. */
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
    // This side closes the connection: a stopped client would delay the release.
    socket.end(`${JSON.stringify({ state, ...card })}\n`, () => socket.destroy());
  });
  const path = join(folder, claimFile.card(id));
  try {
    await withShortPath(folder, (shortFolder) => listen(server, join(shortFolder, claimFile.unborn(id))));
    await writeFile(path, JSON.stringify(card), { mode: 0o600 });
    // Between bind and listen a socket refuses connections like a dead one, so it gets its public name only after listen.
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

/** Overwrites the heartbeat in a card at intervals and on demand. A missing card was removed by another host: the claim is lost. */
function startHeart(path: string, state: () => ClaimState, { beatMs, staleMs }: Machine) {
  let count = 0;
  let isLost = false;
  let last = { elapsedMs: performance.now(), clockMs: Date.now() };
  // A stopped process is visible on both clocks, a suspended machine possibly on one only.
  const ageMs = (): number => Math.max(performance.now() - last.elapsedMs, Math.abs(Date.now() - last.clockMs));
  const isBeating = (maxAgeMs = beatMs): boolean => {
    if (isLost) return false;
    if (ageMs() < maxAgeMs) return true;
    try {
      // Opened by name each time: an open descriptor could still write to a removed file.
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

/** The ids of all published claims, dead ones included. */
async function findOwnerIds(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => socketName.exec(name)?.[1] ?? []).sort();
}

/**
 * The state of a claim: `silent` is alive on this kernel but does not answer in time; `unseen` is on another kernel, its heartbeat has not changed
 * yet, and it does not count as dead yet.
 */
type OwnerAnswer = { state: 'dead'; isForeign: boolean } | { state: ClaimState | 'silent' | 'unseen'; card: OwnerCard };

/** Assesses claims on a folder. It remembers heartbeats of other kernels and does not compare clocks with them. */
class OwnerAssessor {
  readonly #folder: string;
  readonly #machine: Machine;
  readonly #seen = new Map<string, { beat: string; sinceMs: number; hasMoved: boolean }>();

  constructor(folder: string, machine: Machine) {
    this.#folder = folder;
    this.#machine = machine;
  }

  /** The state of a claim now, within two seconds. */
  async assess(id: string): Promise<OwnerAnswer> {
    const card = await this.#readCard(id);
    if (card?.boot !== undefined && card.boot !== this.#machine.boot) return this.#watch(id, card);
    const deadline = Date.now() + answerTimeoutMs;
    for (;;) {
      const reply = await withShortPath(this.#folder, (shortFolder) =>
        readReply(join(shortFolder, claimFile.socket(id)), Math.max(1, deadline - Date.now())),
      );
      // Another host removes the card first, and may still give the former owner time to notice.
      if (reply === 'refused') return { state: 'dead', isForeign: card === undefined };
      if (reply === 'gone') return { state: 'dead', isForeign: false };
      const answer = parseAnswer(reply);
      if (answer) return { state: answer.state, card: answer };
      if (Date.now() >= deadline) return { state: 'silent', card: card ?? unknownOwner };
      // The connection ended before the answer: the process has just ended, which the next attempt shows.
      await delay(retryMs);
    }
  }

  /** Removes the files of a dead claim. A process on another kernel may only be stopped: its card is removed first, so that it has time to notice. */
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

/** Removes files of processes that were killed while they published their claim; only the owner may call it. */
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
    // A younger claim may not be published yet.
    if (ageMs > strayAgeMs) await rm(path, { force: true });
  }
}

/** The bytes received before the connection ended; `refused` when no process listens, `gone` when there is no socket. */
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

/** The limit of a socket address on every supported Unix (macOS: 103 bytes, Linux: 107). */
const longestAddressBytes = 103;
const longestNameBytes = 40;

/** Runs `work` with a path of the folder that is short enough for sockets: its own, or a link in the temporary folder. */
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
/** A live owner on another machine has a heartbeat within one second: only a longer wait is reported. */
const quietMs = 3_000;

/** The ownership of a folder; it ends with `release`, with the process, or when another host takes the folder. */
export interface FolderLock {
  /** Whether this process still owns the folder; once false, always false. Reads it if the last check is older than `maxAgeMs` (default: 1 s). */
  isHeld(maxAgeMs?: number): boolean;
  /** Releases the folder; a second call does nothing. */
  release(): Promise<void>;
}

/** How a process waits for a folder. */
export interface FolderWaitPolicy {
  /** Whether this process releases the folder within seconds, so that others wait for it. */
  isBrief?: boolean | undefined;
  /** The longest wait for an owner with `isBrief`; there is no wait for another owner. */
  maxWaitMs?: number | undefined;
  /** Called once with the owner, and with the longest wait where it is not `maxWaitMs`. */
  onWait?: ((holder: string, longestMs?: number) => void) | undefined;
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Makes this process the only owner of a folder; `command` names it for operators. Throws RunLockedError with the owner's name when another process
 * owns the folder, also a stopped or busy one, after the wait of `waitPolicy`; StoreError when the folder cannot hold a socket. Does not keep
 * the process alive.
 *
 * Within one kernel, containers included, a socket proves that an owner is alive. On another machine its heartbeat does: the owner is dead after
 * 30 seconds without a change, measured by this process. An owner that was only stopped finds its claim removed when it resumes (`isHeld`).
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
    onWait?.(describeFolderOwner(owner), machine.staleMs);
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
    // The rival may itself give way to another; the message must name the final owner.
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

/** The rules of a contest: after `deadline` an undecided claim counts as the owner's; `onUnseen` is called for an unseen claim. */
interface Contest {
  assessor: OwnerAssessor;
  deadline: number;
  onUnseen: (owner: OwnerCard) => void;
}

/** Resolves a claim against all others: undefined when it wins, else the rival that has priority. */
async function contend(folder: string, claim: FolderClaim, contest: Contest): Promise<OwnerCard | undefined> {
  const { assessor } = contest;
  // Each process publishes its claim before it reads the others, so of two concurrent claims at least the later one sees the other.
  for (;;) {
    let waiting = false;
    for (const id of await findOwnerIds(folder)) {
      if (id === claim.id) continue;
      const answer = await assessor.assess(id);
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

/** The owner of the folder once the claims are resolved; undefined when there is none. */
async function awaitOwner(
  folder: string,
  rival: OwnerCard,
  { assessor, deadline, onUnseen }: Contest,
): Promise<OwnerCard | undefined> {
  for (;;) {
    let claiming = false;
    for (const id of await findOwnerIds(folder)) {
      const answer = await assessor.assess(id);
      if (answer.state === 'unseen') onUnseen(answer.card);
      if (answer.state === 'owning' || answer.state === 'silent') return answer.card;
      if (answer.state === 'claiming' || answer.state === 'unseen') claiming = true;
    }
    if (!claiming) return undefined;
    if (Date.now() > deadline) return rival;
    await delay(pollMs);
  }
}

const describeFolderOwner = ({ pid, host, command, since }: OwnerCard): string =>
  `process ${pid} on ${host} (${command}) since ${since}`;

function refusal(folder: string, owner: OwnerCard): RunLockedError {
  const holder = describeFolderOwner(owner);
  return new RunLockedError(`the folder ${folder} is in use by ${holder}`, holder);
}

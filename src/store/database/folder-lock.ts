import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { RunLockedError, StoreError } from '../../errors.js';
import { quote } from './folder-ownership.js';

const answerTimeoutMs = 2_000;
const retryMs = 20;
const strayAgeMs = 60_000;
/** How long a process trusts its last look at its own card. */
const trustMs = 1_000;

/** Where a process runs. `boot` is the same for all containers of one kernel; a socket works only within one kernel. */
interface Machine {
  boot: string;
  host: string;
}

const thisMachine: Machine = { boot: readBoot(), host: hostname() };

function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return hostname();
  }
}

const ownerCard = z.object({
  pid: z.number(),
  host: z.string(),
  boot: z.string(),
  command: z.string(),
  since: z.string(),
  isBrief: z.boolean(),
  /** Only in answers over the socket, and only while a run is in progress. */
  progress: z.string().optional(),
});

/** The owner or claimant of a folder, for operators; `since` is an ISO 8601 time, `isBrief`: it releases the folder within seconds. */
type OwnerCard = z.infer<typeof ownerCard>;

/** The ownership of a folder; it ends with `release`, with the process, or when somebody removes its card to free the folder. */
export interface FolderLock {
  /** Whether this process still owns the folder; once false, always false. Reads it if the last check is older than `maxAgeMs` (default: 1 s). */
  isHeld(maxAgeMs?: number): boolean;
  /** Releases the folder; a second call does nothing. */
  release(): Promise<void>;
}

/** A live claim on a folder, proven by a socket. */
interface FolderClaim extends FolderLock {
  readonly id: string;
  /** Makes this process the owner of the folder. */
  own(): void;
}

/** The file names of a claim; `socket` exists only once a process has listened on it. */
const claimFile = {
  socket: (id: string): string => `owner-${id}.sock`,
  unborn: (id: string): string => `owner-${id}.new`,
  card: (id: string): string => `owner-${id}.json`,
};
const strayName = /^owner-([0-9a-f]+)\.(?:new|json)$/;
const socketName = /^owner-([0-9a-f]+)\.sock$/;

type ClaimState = 'claiming' | 'owning';

/** Publishes a claim under a unique name; throws StoreError when the folder cannot hold a socket. */
async function publishClaim(
  folder: string,
  command: string,
  { isBrief = false, sayProgress }: FolderWaitPolicy,
  machine: Machine,
): Promise<FolderClaim> {
  const id = randomBytes(12).toString('hex');
  let state: ClaimState = 'claiming';
  const card: OwnerCard = { pid: process.pid, ...machine, command, since: new Date().toISOString(), isBrief };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.unref();
    // This side closes the connection: a stopped client would delay the release.
    const answer = { state, ...card, progress: sayProgress?.() ?? undefined };
    socket.end(`${JSON.stringify(answer)}\n`, () => socket.destroy());
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
  let withdrawn: Promise<void> | undefined;
  return {
    id,
    own: () => {
      state = 'owning';
    },
    isHeld: watchCard(path),
    release: () => {
      withdrawn ??= close(server, folder, id);
      return withdrawn;
    },
  };
}

/** Looks whether a card is still there. Who removes it frees the folder for others: the claim is lost for good. */
function watchCard(path: string): (maxAgeMs?: number) => boolean {
  let isLost = false;
  let lookedAt = performance.now();
  return (maxAgeMs = trustMs) => {
    if (isLost || performance.now() - lookedAt < maxAgeMs) return !isLost;
    lookedAt = performance.now();
    isLost = !existsSync(path);
    return !isLost;
  };
}

async function listen(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, 'listening');
  server.unref();
}

async function close(server: Server, folder: string, id: string): Promise<void> {
  if (server.listening) await new Promise<void>((done) => server.close(() => done()));
  await forgetClaim(folder, id);
}

/** The ids of all published claims, dead ones included. */
async function findOwnerIds(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => socketName.exec(name)?.[1] ?? []).sort();
}

/** A claim of a living process: `silent` does not answer in time; `foreign` is of another host, where nobody can ask its process. */
interface LiveClaim {
  id: string;
  state: ClaimState | 'silent' | 'foreign';
  card: OwnerCard;
}

/** A claim now, within two seconds; null for a dead one. A claim of this host from before its last start is dead. */
async function assessClaim(folder: string, id: string, here: Machine): Promise<LiveClaim | null> {
  const card = await readCard(folder, id);
  if (card !== null && card.boot !== here.boot) return card.host === here.host ? null : { id, state: 'foreign', card };
  const deadline = Date.now() + answerTimeoutMs;
  for (;;) {
    const reply = await withShortPath(folder, (shortFolder) =>
      readReply(join(shortFolder, claimFile.socket(id)), Math.max(1, deadline - Date.now())),
    );
    if (reply === null) return null;
    const answer = parseJson(answerSchema, reply);
    if (answer !== null) return { id, state: answer.state, card: answer };
    if (Date.now() >= deadline) return { id, state: 'silent', card: card ?? unknownOwner };
    // The connection ended before the answer: the process has just ended, which the next attempt shows.
    await delay(retryMs);
  }
}

const readCard = async (folder: string, id: string): Promise<OwnerCard | null> =>
  parseJson(ownerCard, await readFile(join(folder, claimFile.card(id)), 'utf8').catch(() => ''));

/** A text as such JSON; null for anything else. */
function parseJson<Value>(schema: z.ZodType<Value>, text: string): Value | null {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Removes the files of a claim that has ended. */
async function forgetClaim(folder: string, id: string): Promise<void> {
  for (const name of Object.values(claimFile)) await rm(join(folder, name(id)), { force: true });
}

const unknownOwner: OwnerCard = {
  pid: 0,
  host: 'this machine',
  boot: '',
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

/** The text received before the connection ended; null when no process listens, or there is no socket. */
function readReply(path: string, timeoutMs: number): Promise<string | null> {
  return new Promise((done) => {
    let received: string | null = '';
    const socket = connect(path);
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') received = null;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      done(received);
    });
  });
}

const answerSchema = ownerCard.extend({ state: z.enum(['claiming', 'owning']) });

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

/** How a process waits for a folder. */
export interface FolderWaitPolicy {
  /** Whether this process releases the folder within seconds, so that others wait for it. */
  isBrief?: boolean | undefined;
  /** The longest wait for an owner with `isBrief`; there is no wait for another owner. */
  maxWaitMs?: number | undefined;
  /** Called once with the owner. */
  onWait?: ((holder: string) => void) | undefined;
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined;
  /** What this process runs and how far it is, for others that find the folder in use; null without a run. */
  sayProgress?: (() => string | null) | undefined;
}

/**
 * Makes this process the only owner of a folder; `command` names it for operators. Throws RunLockedError with the owner's name when another process
 * owns the folder, also a stopped or busy one, after the wait of `waitPolicy`; StoreError when the folder cannot hold a socket. Does not keep
 * the process alive.
 *
 * A socket proves that an owner on this host is alive, also in another container. A claim of another host is refused, whether its process lives
 * or not: the message has the command that frees the folder after a crash.
 */
export async function lockFolder(
  folder: string,
  command: string,
  waitPolicy: FolderWaitPolicy = {},
  machine: Machine = thisMachine,
): Promise<FolderLock> {
  const { isBrief = false, maxWaitMs = 0, onWait, signal } = waitPolicy;
  const waitUntilMs = Date.now() + maxWaitMs;
  let deadline = Date.now() + claimDeadlineMs;
  let isReported = false;
  for (;;) {
    const claim = await publishClaim(folder, command, waitPolicy, machine);
    const rival = await contend(folder, claim, machine, deadline).catch(async (error: unknown) => {
      await claim.release();
      throw error;
    });
    if (!rival) {
      await forgetStrays(folder);
      return claim;
    }
    await claim.release();
    // The rival may itself give way to another; the message must name the final owner.
    const owner = await awaitOwner(folder, rival, machine, deadline);
    if (!owner) continue;
    const refused = refuse(folder, owner, isBrief);
    if (!owner.card.isBrief || Date.now() >= waitUntilMs) throw refused;
    if (!isReported) onWait?.(refused.holder);
    isReported = true;
    await delay(waitMs);
    signal?.throwIfAborted();
    deadline = Date.now() + claimDeadlineMs;
  }
}

/** Resolves a claim against all others: null when it wins, else the rival. After `deadline` an undecided claim counts as the owner's. */
async function contend(folder: string, own: FolderClaim, here: Machine, deadline: number): Promise<LiveClaim | null> {
  // Each process publishes its claim before it reads the others, so of two concurrent claims at least the later one sees the other.
  for (;;) {
    let waiting = false;
    for (const id of await findOwnerIds(folder)) {
      if (id === own.id) continue;
      const rival = await assessClaim(folder, id, here);
      if (rival === null) await forgetClaim(folder, id);
      else if (rival.state !== 'claiming' || id < own.id || Date.now() > deadline) return rival;
      else waiting = true;
    }
    if (!waiting) {
      own.own();
      return null;
    }
    await delay(pollMs);
  }
}

/** The owner of the folder once the claims are resolved; null when there is none. */
async function awaitOwner(
  folder: string,
  rival: LiveClaim,
  here: Machine,
  deadline: number,
): Promise<LiveClaim | null> {
  for (;;) {
    let claiming = false;
    for (const id of await findOwnerIds(folder)) {
      const claim = await assessClaim(folder, id, here);
      if (claim?.state === 'claiming') claiming = true;
      else if (claim !== null) return claim;
    }
    if (!claiming) return null;
    if (Date.now() > deadline) return rival;
    await delay(pollMs);
  }
}

function refuse(folder: string, { id, state, card }: LiveClaim, isForMoment: boolean): RunLockedError {
  const { pid, host, command, since, progress } = card;
  const holder = `process ${pid} on ${host} (${command}) since ${since}`;
  const taken = `the folder ${folder} is in use by ${holder}`;
  if (state !== 'foreign') {
    const message = progress === undefined ? taken : `${taken}. It runs ${progress}`;
    return new RunLockedError(message, holder, null, isForMoment && !card.isBrief);
  }
  const free = `rm ${quote(resolve(folder))}/owner-${id}.*`;
  return new RunLockedError(
    `${taken}. That is another host, so nobody can see from here whether it lives. If it has crashed, this frees the folder: ${free}`,
    holder,
  );
}

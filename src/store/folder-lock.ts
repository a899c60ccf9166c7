import { setTimeout as delay } from 'node:timers/promises';
import { RunLockedError } from '../errors.js';
import { type FolderClaim, type OwnerCard, publishClaim } from './folder-claim.js';
import { askOwner, findOwnerIds, forgetOwner, forgetStrays } from './folder-owners.js';

const pollMs = 50;
const waitMs = 200;
const claimDeadlineMs = 10_000;

/** Proof that this process owns a folder; it ends with `release` or with the process, however that ends. */
export interface FolderLock {
  /** Gives the folder up; a second call does nothing. */
  release(): Promise<void>;
}

/** How a folder is taken. */
export interface FolderPatience {
  /** Whether it is given back within seconds, so that others wait for it. */
  isBrief?: boolean | undefined;
  /** How long to wait for an owner that gives it back within seconds; for any other nobody waits. */
  patienceMs?: number | undefined;
  /** Told once who is waited for. */
  tellWait?: ((holder: string) => void) | undefined;
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Makes this process the one owner of a folder, for `command` as operators know it. Throws RunLockedError naming the owner when another
 * process owns it (a stopped or busy owner still owns), at once unless that owner is a brief one and there is patience; StoreError when the
 * folder cannot hold a socket. Works between processes of one kernel, containers included; never keeps the process alive.
 */
export async function lockFolder(folder: string, command: string, patience: FolderPatience = {}): Promise<FolderLock> {
  const { isBrief = false, patienceMs = 0, tellWait, signal } = patience;
  const patientUntil = Date.now() + patienceMs;
  let deadline = Date.now() + claimDeadlineMs;
  let isTold = false;
  for (;;) {
    const claim = await publishClaim(folder, command, isBrief);
    const rival = await contend(folder, claim, deadline).catch(async (error: unknown) => {
      await claim.withdraw();
      throw error;
    });
    if (!rival) {
      await forgetStrays(folder);
      return { release: () => claim.withdraw() };
    }
    await claim.withdraw();
    // Whoever we gave way to may itself give way; only the one that ends up owning is worth naming.
    const owner = await awaitOwner(folder, rival, deadline);
    if (!owner) continue;
    const refused = refusal(folder, owner);
    if (!owner.isBrief || Date.now() >= patientUntil) throw refused;
    if (!isTold) tellWait?.(refused.holder);
    isTold = true;
    await delay(waitMs);
    signal?.throwIfAborted();
    deadline = Date.now() + claimDeadlineMs;
  }
}

/** Settles a claim against all others: undefined when it has become the owner's, else the rival that stands before it. */
async function contend(folder: string, claim: FolderClaim, deadline: number): Promise<OwnerCard | undefined> {
  // Every claim is published before its holder looks around, so of two that overlap at least the later one sees the other.
  for (;;) {
    let waiting = false;
    for (const id of await findOwnerIds(folder)) {
      if (id === claim.id) continue;
      const answer = await askOwner(folder, id);
      if (answer.state === 'dead') await forgetOwner(folder, id);
      else if (answer.state !== 'claiming' || id < claim.id || Date.now() > deadline) return answer.card;
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
async function awaitOwner(folder: string, rival: OwnerCard, deadline: number): Promise<OwnerCard | undefined> {
  for (;;) {
    let claiming = false;
    for (const id of await findOwnerIds(folder)) {
      const answer = await askOwner(folder, id);
      if (answer.state === 'owning' || answer.state === 'silent') return answer.card;
      if (answer.state === 'claiming') claiming = true;
    }
    if (!claiming) return undefined;
    if (Date.now() > deadline) return rival;
    await delay(pollMs);
  }
}

function refusal(folder: string, owner: OwnerCard): RunLockedError {
  const holder = `process ${owner.pid} on ${owner.host} (${owner.command}) since ${owner.since}`;
  return new RunLockedError(`the folder ${folder} is in use by ${holder}`, holder);
}

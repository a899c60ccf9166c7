import { setTimeout as delay } from 'node:timers/promises';
import { RunLockedError } from '../errors.js';
import {
  type FolderClaim,
  findOwnerIds,
  forgetStrays,
  type Machine,
  type OwnerCard,
  OwnerJudge,
  publishClaim,
  thisMachine,
} from './folder-claims.js';

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
export interface FolderPatience {
  /** Whether it is given back within seconds, so that others wait for it. */
  isBrief?: boolean | undefined;
  /** How long to wait for an owner that gives it back within seconds; for any other nobody waits. */
  patienceMs?: number | undefined;
  /** Told once who is waited for, and for how long at most where that is not `patienceMs`. */
  tellWait?: ((holder: string, longestMs?: number) => void) | undefined;
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Makes this process the one owner of a folder, for `command` as operators know it. Throws RunLockedError naming the owner when another
 * process owns it (a stopped or busy owner still owns), at once unless that owner is a brief one and there is patience; StoreError when the
 * folder cannot hold a socket. Never keeps the process alive.
 *
 * Between processes of one kernel, containers included, a socket tells who lives. An owner on another machine that shares the folder is
 * known by its heartbeat: it lives while that moves, and is dead when it has stood still for 30 seconds of this process's own watching. An
 * owner that was only stopped finds its claim removed when it wakes up (`isHeld`).
 */
export async function lockFolder(
  folder: string,
  command: string,
  patience: FolderPatience = {},
  machine: Machine = thisMachine,
): Promise<FolderLock> {
  const { isBrief = false, patienceMs = 0, tellWait, signal } = patience;
  const judge = new OwnerJudge(folder, machine);
  const watchedSinceMs = performance.now();
  const patientUntil = Date.now() + patienceMs;
  let deadline = Date.now() + claimDeadlineMs;
  let isTold = false;
  const tellUnseen = (owner: OwnerCard): void => {
    signal?.throwIfAborted();
    if (isTold || performance.now() - watchedSinceMs < quietMs) return;
    isTold = true;
    tellWait?.(describeOwner(owner), machine.staleMs);
  };
  for (;;) {
    const claim = await publishClaim(folder, command, isBrief, machine);
    const rival = await contend(folder, claim, { judge, deadline, tellUnseen }).catch(async (error: unknown) => {
      await claim.withdraw();
      throw error;
    });
    if (!rival) {
      await forgetStrays(folder);
      return { isHeld: claim.isHeld, release: () => claim.withdraw() };
    }
    await claim.withdraw();
    // Whoever we gave way to may itself give way; only the one that ends up owning is worth naming.
    const owner = await awaitOwner(folder, rival, { judge, deadline, tellUnseen });
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

/** How claims are judged: after `deadline` one that is still not settled counts as the owner's; `tellUnseen` hears of one that is watched. */
interface Contest {
  judge: OwnerJudge;
  deadline: number;
  tellUnseen: (owner: OwnerCard) => void;
}

/** Settles a claim against all others: undefined when it has become the owner's, else the rival that stands before it. */
async function contend(folder: string, claim: FolderClaim, contest: Contest): Promise<OwnerCard | undefined> {
  const { judge } = contest;
  // Every claim is published before its holder looks around, so of two that overlap at least the later one sees the other.
  for (;;) {
    let waiting = false;
    for (const id of await findOwnerIds(folder)) {
      if (id === claim.id) continue;
      const answer = await judge.ask(id);
      if (answer.state === 'dead') {
        await judge.forget(id, answer.isForeign);
        // Others may have claimed the folder during the wait for an owner on another machine.
        waiting ||= answer.isForeign;
      } else if (answer.state === 'unseen') {
        contest.tellUnseen(answer.card);
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
  { judge, deadline, tellUnseen }: Contest,
): Promise<OwnerCard | undefined> {
  for (;;) {
    let claiming = false;
    for (const id of await findOwnerIds(folder)) {
      const answer = await judge.ask(id);
      if (answer.state === 'unseen') tellUnseen(answer.card);
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

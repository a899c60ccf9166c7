import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { claimFile, type OwnerCard, ownerCard } from './folder-claim.js';
import { withShortPath } from './short-path.js';

const answerTimeoutMs = 2_000;
const retryMs = 20;
const strayAgeMs = 60_000;

/** What the socket of a claim says of its process: `silent` lives (the kernel took the connection) but does not answer in time. */
export type OwnerAnswer = { state: 'dead' } | { state: 'claiming' | 'owning' | 'silent'; card: OwnerCard };

const answerSchema = ownerCard.extend({ state: z.enum(['claiming', 'owning']) });
const strayName = /^owner-([0-9a-f]+)\.(?:new|json)$/;
const socketName = /^owner-([0-9a-f]+)\.sock$/;

/** The ids of all claims published in a folder, dead ones included. */
export async function findOwnerIds(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => socketName.exec(name)?.[1] ?? []).sort();
}

/** Asks the process behind a claim for its state; answers within two seconds. */
export async function askOwner(folder: string, id: string): Promise<OwnerAnswer> {
  const deadline = Date.now() + answerTimeoutMs;
  for (;;) {
    const reply = await withShortPath(folder, (shortFolder) =>
      readReply(join(shortFolder, claimFile.socket(id)), Math.max(1, deadline - Date.now())),
    );
    if (reply === 'refused') return { state: 'dead' };
    const answer = parseAnswer(reply);
    if (answer) return { state: answer.state, card: answer };
    if (Date.now() >= deadline) return { state: 'silent', card: await readCard(folder, id) };
    // Cut before the answer: the process just ended, which the next attempt will tell.
    await delay(retryMs);
  }
}

/** Removes what a dead claim left behind. */
export async function forgetOwner(folder: string, id: string): Promise<void> {
  await rm(join(folder, claimFile.socket(id)), { force: true });
  await rm(join(folder, claimFile.card(id)), { force: true });
}

/** Removes what processes left behind that were killed while they published their claim; only the owner may call it. */
export async function forgetStrays(folder: string): Promise<void> {
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

/** The bytes sent until the other side or the deadline ended the connection; `refused` only when nobody listens. */
function readReply(path: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(path);
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') received = 'refused';
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(received);
    });
  });
}

function parseAnswer(reply: string): z.infer<typeof answerSchema> | undefined {
  try {
    return answerSchema.parse(JSON.parse(reply));
  } catch {
    return undefined;
  }
}

async function readCard(folder: string, id: string): Promise<OwnerCard> {
  try {
    return ownerCard.parse(JSON.parse(await readFile(join(folder, claimFile.card(id)), 'utf8')));
  } catch {
    return { pid: 0, host: 'this machine', command: 'unknown', since: 'an unknown time', isBrief: false };
  }
}

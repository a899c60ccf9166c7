import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { StoreError } from '../errors.js';
import { withShortPath } from './short-path.js';

/** Who stands behind a claim, in words for an operator; `since` is an ISO 8601 time, `isBrief` whether it is worth waiting for. */
export const ownerCard = z.object({
  pid: z.number(),
  host: z.string(),
  command: z.string(),
  since: z.string(),
  isBrief: z.boolean().default(false),
});

/** Who stands behind a claim. */
export type OwnerCard = z.infer<typeof ownerCard>;

/** A live claim on a folder, answered for by a socket in it. */
export interface FolderClaim {
  readonly id: string;
  /** From now on the socket answers that this process owns the folder. */
  own(): void;
  /** Ends the claim; a second call does nothing. */
  withdraw(): Promise<void>;
}

/** File names of a claim: `socket` appears in the folder only while or after somebody listened on it. */
export const claimFile = {
  socket: (id: string): string => `owner-${id}.sock`,
  unborn: (id: string): string => `owner-${id}.new`,
  card: (id: string): string => `owner-${id}.json`,
};

/** Publishes a claim under a name that is never used again; throws StoreError when the folder cannot hold a socket. */
export async function publishClaim(folder: string, command: string, isBrief: boolean): Promise<FolderClaim> {
  const id = randomBytes(12).toString('hex');
  const card: OwnerCard = { pid: process.pid, host: hostname(), command, since: new Date().toISOString(), isBrief };
  let state: 'claiming' | 'owning' = 'claiming';
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.unref();
    // Not left to the other side to close: a stopped one would keep our own release waiting.
    socket.end(`${JSON.stringify({ state, ...card })}\n`, () => socket.destroy());
  });
  try {
    await withShortPath(folder, (shortFolder) => listen(server, join(shortFolder, claimFile.unborn(id))));
    // An owner whose event loop is busy cannot answer, so that its name is kept beside the socket; this file is no lock.
    await writeFile(join(folder, claimFile.card(id)), JSON.stringify(card), { mode: 0o600 });
    // Between bind and listen a socket refuses connections, as a dead one does: it gets its public name only after listen.
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
    withdraw: () => {
      withdrawn ??= close(server, folder, id);
      return withdrawn;
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, 'listening');
  server.unref();
}

async function close(server: Server, folder: string, id: string): Promise<void> {
  if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
  for (const name of Object.values(claimFile)) await rm(join(folder, name(id)), { force: true });
}

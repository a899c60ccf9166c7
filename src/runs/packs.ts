import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, EvidenceError, NightscreenError, RosterError, readMessage } from '../errors.js';
import { seal } from '../evidence/seal.js';
import { readChainEnd } from '../evidence/verify.js';
import { type PackContent, writePack } from '../evidence/write-pack.js';
import type { Database } from '../store/database/database.js';
import {
  type Lines,
  readAnswers,
  readChanges,
  readCustomers,
  readDispositions,
  readDossierChanges,
  readRecords,
  readRunJson,
  readSearches,
  readSingleSearches,
  type SealedRow,
} from '../store/evidence/pack-lines.js';
import {
  ensureKeys,
  findHead,
  findWaitingPack,
  followChain,
  noteWritten,
  type PackRow,
  type PreparedPack,
  preparePack,
  readWrittenPacks,
} from '../store/evidence/packs.js';
import { ensureOrganisation } from '../store/organisations.js';
import type { EvidenceKeyKind } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { RunHalted } from './halt.js';

/**
 * Writes the packs of the organisation that wait, one after the other. What cannot be written is a warning: its run stands, and the next run tries
 * again. Gives whether none waits any more.
 */
export async function writePacks(app: AppContext): Promise<boolean> {
  const { database, settings } = app;
  const { dir } = settings.evidence;
  if (dir === null) return true;
  try {
    const { organisationId } = await ensureOrganisation(database, settings.organisation, app.clock.now());
    for (;;) {
      const pack = await findWaitingPack(database, organisationId);
      if (pack === null) return true;
      await writeOne(app, dir, pack);
    }
  } catch (error) {
    if (!(error instanceof NightscreenError)) throw error;
    const message = `evidence waits to be written, and the next run tries again: ${readMessage(error)}`;
    app.emit({ kind: 'warning', runId: null, code: 'evidence_not_written', message });
    return false;
  }
}

/** Does `work`, which begins or continues a run, between the packs of runs before and its own. */
export async function withPacks<T>(app: AppContext, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  // Before anything moves on from what they hold.
  await writePacks(app);
  const result = await work().catch(async (error: unknown) => {
    if (error instanceof RunHalted || error instanceof ConfigError || error instanceof RosterError)
      await writeUnlessStopping(app, signal);
    throw error;
  });
  await writeUnlessStopping(app, signal);
  return result;
}

/** A process that stops has eight seconds: the next run writes its pack. */
const writeUnlessStopping = async (app: AppContext, signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await writePacks(app);
};

/**
 * Writes the packs that are missing from the folder again, from the database, byte for byte; gives their folders. Throws EvidenceError where the
 * database no longer holds what a pack held.
 */
export async function writeMissingPacks(app: AppContext): Promise<readonly string[]> {
  const { dir } = app.settings.evidence;
  if (dir === null) return [];
  const { organisationId } = await ensureOrganisation(app.database, app.settings.organisation, app.clock.now());
  const made: string[] = [];
  for (const pack of await readWrittenPacks(app.database, organisationId)) {
    const folder = join(dir, String(pack.runId), String(pack.number));
    if (existsSync(folder)) continue;
    await writeFiles(app, dir, pack);
    made.push(folder);
  }
  return made;
}

async function writeOne(app: AppContext, dir: string, pack: PackRow): Promise<void> {
  const { database, clock } = app;
  const prepared = isPrepared(pack) ? pack : await preparePack(database, pack, await readRunJson(database, pack));
  try {
    const { sha256 } = await writeFiles(app, dir, prepared);
    await noteWritten(database, prepared.packId, sha256, clock.now());
  } catch (error) {
    if (!(error instanceof EvidenceError) || error.code !== 'evidence_differs') throw error;
    await followFolder(app, dir, prepared, error);
  }
}

/** The folder has packs that the database does not know, as after a restore from a backup: what is to be written follows them. */
async function followFolder(app: AppContext, dir: string, pack: PreparedPack, error: EvidenceError): Promise<void> {
  const { database, settings, emit } = app;
  const end = await readChainEnd(dir);
  if (end === null || end.organisation !== settings.organisation || end.head.sequence < pack.sequence) throw error;
  const lastPack = end.lastPacks.get(String(pack.runId)) ?? 0;
  await followChain(database, pack, { ...end, lastPack });
  const message = `${dir} has packs of evidence up to number ${end.head.sequence} that this database does not know; the chain goes on after them`;
  emit({ kind: 'warning', runId: null, code: 'evidence_continued', message });
}

const isPrepared = (pack: PackRow): pack is PreparedPack => pack.sequence !== null && pack.runJson !== null;

async function writeFiles(app: AppContext, dir: string, pack: PreparedPack) {
  const { database, settings } = app;
  const { sequence, ending, version } = pack;
  const former = sequence === 1 ? null : await findFormer(database, pack);
  const head = {
    organisation: settings.organisation,
    sequence,
    run: String(pack.runId),
    pack: pack.number,
    ending,
    former,
    createdAt: pack.queuedAt.toISOString(),
    version,
  };
  const signingKey = await readSigningKey(settings.evidence.signingKeyFile);
  return writePack(dir, head, listContents(database, pack), signingKey, pack.manifestSha256 ?? undefined);
}

/** The pack before one, which is written by then. */
const findFormer = async (database: Database, { sequence, formerSha256, organisationId }: PreparedPack) =>
  formerSha256 === null
    ? findHead(database, organisationId, sequence - 1)
    : { sequence: sequence - 1, sha256: formerSha256 };

const listContents = (database: Database, pack: PreparedPack): readonly PackContent[] => [
  { name: 'run.json', text: `${pack.runJson}\n` },
  { name: 'customers.jsonl.gz', lines: listCustomers(database, pack) },
  { name: 'answers.jsonl.gz', lines: sealLines(database, 'request', readAnswers(database, pack)) },
  { name: 'changes.jsonl.gz', lines: listChanges(database, pack) },
  { name: 'dispositions.jsonl.gz', lines: sealLines(database, 'customer', readDispositions(database, pack)) },
];

async function* listCustomers(database: Database, pack: PreparedPack): Lines {
  if (pack.rosterId !== null) yield* sealLines(database, 'customer', readRecords(database, pack));
  yield* readSearches(database, pack);
  yield* sealLines(database, 'request', readSingleSearches(database, pack));
  yield* readCustomers(database, pack);
}

async function* listChanges(database: Database, pack: PreparedPack): Lines {
  yield* sealLines(database, 'customer', readChanges(database, pack));
  yield* readDossierChanges(database, pack);
}

/** Lines of which a part is sealed with a key of its customer, or of its request. */
async function* sealLines(database: Database, kind: EvidenceKeyKind, rows: AsyncIterable<readonly SealedRow[]>): Lines {
  for await (const batch of rows) {
    const owners = batch.flatMap(({ text, owner }) => (text === null ? [] : [owner]));
    const keys = await ensureKeys(database, kind, [...new Set(owners)], () => randomBytes(32));
    yield batch.map(({ line, text, owner, about }) => {
      const key = keys.get(owner);
      if (text === null) return line;
      if (key === undefined) throw new EvidenceError('evidence_not_written', `${about} has no key`);
      return `${line.slice(0, -1)}, "sealed" : "${seal(key, about, text)}"}`;
    });
  }
}

/** Throws EvidenceError for a file that is not an Ed25519 key. */
async function readSigningKey(file: string | undefined): Promise<KeyObject | undefined> {
  if (file === undefined) return undefined;
  try {
    const key = createPrivateKey(await readFile(file));
    if (key.asymmetricKeyType === 'ed25519') return key;
    throw new Error(`it holds a key for ${key.asymmetricKeyType}`);
  } catch (error) {
    const message = `evidence.signingKeyFile: ${file} holds no Ed25519 private key: ${readMessage(error)}`;
    throw new EvidenceError('evidence_not_written', message, { cause: error });
  }
}

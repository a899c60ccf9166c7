import { createPrivateKey, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { EvidenceError, readMessage } from '../errors.js';
import { seal } from '../evidence/seal.js';
import { type ChainEnd, readChainEnd } from '../evidence/verify.js';
import { type PackContent, toPackFolder, writePack } from '../evidence/write-pack.js';
import type { Database } from '../store/database/database.js';
import {
  type Lines,
  readAcceptances,
  readAnswers,
  readChanges,
  readCustomers,
  readDetails,
  readDiscrepancies,
  readDispositions,
  readDossierChanges,
  readErasures,
  readGaps,
  readRecords,
  readRejectedRows,
  readReports,
  readRunJson,
  readSearches,
  readSingleSearches,
  type SealedRow,
} from '../store/evidence/pack-lines.js';
import {
  findHead,
  findWaitingPack,
  followChain,
  noteWritten,
  type PreparedPack,
  preparePack,
  readQueuedPacks,
  readWrittenPacks,
} from '../store/evidence/packs.js';
import { ensureOrganisation } from '../store/organisations.js';
import type { EvidenceKeyKind } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { openKeys } from './evidence-keys.js';

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
    // What a run says of itself is fixed before it continues or is accepted, also while an earlier pack cannot be written.
    for (const pack of await readQueuedPacks(database, organisationId)) {
      await preparePack(database, pack, await readRunJson(database, pack));
    }
    for (;;) {
      const pack = await findWaitingPack(database, organisationId);
      if (pack === null) return true;
      await writeOne(app, dir, pack);
    }
  } catch (error) {
    // Whatever it is: the run has ended, and its report and mail are still to be written.
    const message = `evidence waits to be written, and the next run tries again: ${readMessage(error)}`;
    app.emit({ kind: 'warning', runId: null, code: 'evidence_not_written', message });
    return false;
  }
}

/** Writes the pack of a run that has ended. A process that stops has eight seconds: the next run writes it. */
export const writePackAtEnd = async (app: AppContext, signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await writePacks(app);
};

/**
 * Writes the packs that are missing from the folder again, from the database, byte for byte. Gives their folders, and why others cannot be made: the
 * database no longer holds what they held.
 */
export async function writeMissingPacks(app: AppContext): Promise<{ made: string[]; lost: string[] }> {
  const { evidence, organisation } = app.settings;
  const { dir } = evidence;
  const [made, lost]: [string[], string[]] = [[], []];
  if (dir === null) return { made, lost };
  const { organisationId } = await ensureOrganisation(app.database, organisation, app.clock.now());
  for (const pack of await readWrittenPacks(app.database, organisationId)) {
    const folder = toPackFolder(dir, pack.runId, pack.number);
    if (existsSync(folder)) continue;
    try {
      await writeFiles(app, dir, pack);
      made.push(folder);
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      lost.push(error.message);
    }
  }
  return { made, lost };
}

async function writeOne(app: AppContext, dir: string, pack: PreparedPack): Promise<void> {
  const { database, clock } = app;
  const end = await readChainEnd(dir);
  const isThere = existsSync(toPackFolder(dir, pack.runId, pack.number));
  if (!isThere && (await followFolder(app, dir, pack, end))) return;
  try {
    const { sha256 } = await writeFiles(app, dir, pack);
    await noteWritten(database, pack.packId, sha256, clock.now());
  } catch (error) {
    const isOther = error instanceof EvidenceError && error.code === 'evidence_differs';
    if (!isOther || !(await followFolder(app, dir, pack, end))) throw error;
  }
}

/**
 * Lets a pack follow the chain of its folder where the database does not know the end of that, as after a restore from a backup; gives whether it
 * did. Throws EvidenceError where the folder lacks the pack before it.
 */
async function followFolder(app: AppContext, dir: string, pack: PreparedPack, end: ChainEnd | null): Promise<boolean> {
  const { database, settings, emit } = app;
  const former = await findFormer(database, pack);
  const last = end?.head.sequence ?? 0;
  if (last < pack.sequence - 1) {
    const message = `${dir} lacks the packs before number ${pack.sequence}. Name the folder of before in evidence.dir, or make them again: nightscreen evidence write`;
    throw new EvidenceError('evidence_not_written', message);
  }
  if (end === null || (last < pack.sequence && end.head.sha256 === former?.sha256)) return false;
  if (end.organisation !== settings.organisation) {
    const message = `${dir} has packs of organisation ${end.organisation}; name another folder in evidence.dir`;
    throw new EvidenceError('evidence_not_written', message);
  }
  await followChain(database, pack, { ...end, lastPack: end.lastPacks.get(String(pack.runId)) ?? 0 });
  const message = `${dir} has packs of evidence up to number ${last} that this database does not know; the chain continues after them`;
  emit({ kind: 'warning', runId: null, code: 'evidence_continued', message });
  return true;
}

async function writeFiles(app: AppContext, dir: string, pack: PreparedPack) {
  const { database, settings } = app;
  const { sequence, ending, version } = pack;
  const former = await findFormer(database, pack);
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
  const contents = listContents(app, pack);
  return writePack({ directory: dir, head, contents, signingKey, mustBe: pack.manifestSha256 ?? undefined });
}

/** The pack before one, which is written by then; null for the first one. */
const findFormer = async (database: Database, { sequence, formerSha256, organisationId }: PreparedPack) =>
  formerSha256 === null
    ? findHead(database, organisationId, sequence - 1)
    : { sequence: sequence - 1, sha256: formerSha256 };

const listContents = (app: AppContext, pack: PreparedPack): readonly PackContent[] => [
  { name: 'run.json', text: `${pack.runJson}\n` },
  { name: 'customers.jsonl.gz', lines: listCustomers(app, pack) },
  { name: 'answers.jsonl.gz', lines: listAnswers(app, pack) },
  { name: 'changes.jsonl.gz', lines: listChanges(app, pack) },
  { name: 'dispositions.jsonl.gz', lines: listDispositions(app, pack) },
];

async function* listCustomers(app: AppContext, pack: PreparedPack): Lines {
  const hasRoster = pack.rosterId !== null;
  if (hasRoster) yield* sealLines(app, 'customer', readRecords(app.database, pack));
  if (hasRoster) yield* sealLines(app, 'reference', readRejectedRows(app.database, pack));
  yield* readSearches(app.database, pack);
  yield* sealLines(app, 'run', readSingleSearches(app.database, pack));
  yield* readCustomers(app.database, pack);
  if (hasRoster) yield* sealLines(app, 'reference', readGaps(app.database, pack));
}

async function* listAnswers(app: AppContext, pack: PreparedPack): Lines {
  yield* sealLines(app, 'answer', readAnswers(app.database, pack));
  yield* sealLines(app, 'record', readDetails(app.database, pack));
}

async function* listChanges(app: AppContext, pack: PreparedPack): Lines {
  yield* sealLines(app, 'customer', readChanges(app.database, pack));
  yield* readDossierChanges(app.database, pack);
  yield* sealLines(app, 'customer', readDiscrepancies(app.database, pack));
}

async function* listDispositions(app: AppContext, pack: PreparedPack): Lines {
  yield* sealLines(app, 'customer', readDispositions(app.database, pack));
  yield* sealLines(app, 'acceptance', readAcceptances(app.database, pack));
  yield* readReports(app.database, pack);
  yield* readErasures(app.database, pack);
}

/** Lines of which a part is sealed with a key of their customer, answer, run ... */
async function* sealLines(app: AppContext, kind: EvidenceKeyKind, rows: AsyncIterable<readonly SealedRow[]>): Lines {
  for await (const batch of rows) {
    const owners = batch.flatMap(({ text, owner }) => (text === null ? [] : [owner]));
    const keys = await openKeys(app, kind, [...new Set(owners)]);
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

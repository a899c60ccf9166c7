import { createPublicKey } from 'node:crypto';
import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readMessage, usageError } from '../errors.js';
import { type EvidenceHead, manifestName, signatureName } from './manifest.js';
import { type Erasure, type PackIndex, PackLines } from './pack-lines.js';
import { type EvidenceProblem, type FoundPack, PackCheck, readManifest } from './verify-pack.js';

export type { EvidenceHead } from './manifest.js';
export type { EvidenceProblem, FoundPack } from './verify-pack.js';

/** What a folder of evidence proves, and every problem that was found; without a problem the evidence is whole. */
export interface EvidenceVerdict {
  /** Null without a pack. */
  organisation: string | null;
  packs: number;
  /** The lines of all files but run.json. */
  records: number;
  /** The sequence number of the first pack; null without one. */
  since: number | null;
  /** The last pack; null without one. */
  head: EvidenceHead | null;
  /** Customers whose key was destroyed. Their lines remain in the packs, and nobody can read them. */
  erased: readonly Erasure[];
  /** The number of packs with a signature that holds, and the public keys (base64 of SPKI) that made them, each with its first and last pack. */
  signed: { packs: number; signers: readonly SignedSpan[] };
  /** Folders of a writer that works, or was killed; they are no damage. */
  unfinished: readonly string[];
  problems: readonly EvidenceProblem[];
}

/** Packs that follow each other, signed by one key. */
interface SignedSpan {
  signer: string;
  from: number;
  through: number;
}

interface VerifyOptions {
  /** From an old report or mail: the pack that must be in the chain. */
  head?: EvidenceHead | undefined;
  /** One or more public keys in PEM: each signature must be by one of them, and the last pack must have one. */
  publicKey?: string | undefined;
  /** Is called after each pack. */
  onPack?: ((done: number, all: number) => void) | undefined;
}

/**
 * Checks all packs of an organisation: files, digests, lines, sums, references, chain and signatures. Needs no database and no key. Memory is
 * 8 bytes for each answer and each record, and 2 KB for each pack. Throws ConfigError when the folder or the public key cannot be read.
 */
export async function verifyEvidence(folder: string, options: VerifyOptions = {}): Promise<EvidenceVerdict> {
  const signers = options.publicKey === undefined ? null : readPublicKeys(options.publicKey);
  const { paths, unfinished, problems } = await listPacks(folder);
  const chain = await readChain(folder, paths, problems);
  const [first] = chain;
  problems.push(...findStartProblems(first, options.head));
  const last = chain.at(-1);
  const indexes = new Map<number, PackIndex>();
  const erased: Erasure[] = [];
  const signed = { packs: 0, signers: [] as SignedSpan[] };
  let records = 0;
  let proven = 0;
  for (const [at, pack] of chain.entries()) {
    const { sequence } = pack.manifest;
    problems.push(...findChainProblems(pack, chain[at - 1]));
    const lines = new PackLines(sequence, first?.manifest.sequence ?? sequence, indexes);
    const check = new PackCheck(folder, pack, lines);
    await check.run();
    indexes.set(sequence, lines.index);
    problems.push(...check.problems);
    erased.push(...lines.erased);
    records += check.records;
    if (check.signer !== null) {
      signed.packs += 1;
      const span = signed.signers.at(-1);
      if (span?.signer === check.signer) span.through = sequence;
      else signed.signers.push({ signer: check.signer, from: sequence, through: sequence });
      if (signers?.has(check.signer)) proven = at + 1;
      else if (signers) problems.push(toProblem(pack.path, 'the pack is signed by another key than the given one'));
    }
    options.onPack?.(at + 1, chain.length);
  }
  const unproven = chain[proven];
  if (signers && unproven) {
    const what = 'from this pack on, no pack has a signature of the given key';
    problems.push(toProblem(unproven.path, what, 'manifest.sig'));
  }
  const head = last ? { sequence: last.manifest.sequence, sha256: last.sha256 } : null;
  if (options.head) problems.push(...findHeadProblems(options.head, chain));
  return {
    organisation: first?.manifest.organisation ?? null,
    packs: chain.length,
    records,
    since: first?.manifest.sequence ?? null,
    head,
    erased,
    signed,
    unfinished,
    problems,
  };
}

/** What a folder of evidence ends with. */
export interface ChainEnd {
  organisation: string;
  head: EvidenceHead;
  /** The highest number of a run, and by run that of a pack. */
  lastRun: number;
  lastPacks: ReadonlyMap<string, number>;
}

/** Reads the last manifest of a folder and checks nothing; null where none can be read. Throws ConfigError when the folder cannot be read. */
export async function readChainEnd(folder: string): Promise<ChainEnd | null> {
  if (!existsSync(folder)) return null;
  const { paths } = await listPacks(folder);
  const last = (await findLast(folder, paths)) ?? (await readChain(folder, paths, [])).at(-1);
  if (last === undefined) return null;
  const places = paths.map((path) => path.split('/').map(Number)) as [number, number][];
  const lastPacks = new Map<string, number>();
  for (const [run, pack] of places) lastPacks.set(String(run), Math.max(pack, lastPacks.get(String(run)) ?? 0));
  return {
    organisation: last.manifest.organisation,
    head: { sequence: last.manifest.sequence, sha256: last.sha256 },
    lastRun: Math.max(...places.map(([run]) => run)),
    lastPacks,
  };
}

/** How many packs are tried at each end: the pack of a run that is accepted later may follow those of newer runs. */
const endTried = 10;

/** The last pack of a folder without a gap, where both ends of the chain are among the packs tried. Null where all must be read. */
async function findLast(folder: string, paths: readonly string[]): Promise<FoundPack | null> {
  const ends = await readChain(folder, [...paths.slice(0, endTried), ...paths.slice(-endTried)], []);
  const [first, last] = [ends[0], ends.at(-1)];
  return first && last && last.manifest.sequence - first.manifest.sequence === paths.length - 1 ? last : null;
}

/** The manifests of a folder that can be read, in the order of the chain; checks nothing. Throws ConfigError when the folder cannot be read. */
export async function readManifests(folder: string): Promise<readonly FoundPack[]> {
  const { paths } = await listPacks(folder);
  return readChain(folder, paths, []);
}

const toProblem = (pack: string | null, what: string, file: string | null = null): EvidenceProblem => ({
  pack,
  file,
  line: null,
  what,
});

/** The public keys as manifests name them. */
function readPublicKeys(pem: string): ReadonlySet<string> {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  try {
    if (blocks.length === 0) throw new Error('no public key in PEM is there');
    return new Set(blocks.map(toSigner));
  } catch (error) {
    throw usageError('file of the public key', `it cannot be used: ${readMessage(error)}`, error);
  }
}

function toSigner(pem: string): string {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('a key is no Ed25519 key');
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

const passingForm = /^\.\d+-\d+\.[0-9a-f]{12}\.tmp$/;
const numberForm = /^[1-9]\d*$/;

/** The folders of packs, `<run>/<pack>`; all else there is unfinished, or a problem. */
async function listPacks(folder: string) {
  const paths: string[] = [];
  const unfinished: string[] = [];
  const problems: EvidenceProblem[] = [];
  for (const entry of await listEntries(folder)) {
    if (passingForm.test(entry.name)) unfinished.push(entry.name);
    else if (!isNumberedFolder(entry)) problems.push(toProblem(null, 'this is no folder of a run', entry.name));
    else
      for (const pack of await listEntries(join(folder, entry.name))) {
        const path = join(entry.name, pack.name);
        if (isNumberedFolder(pack)) paths.push(path);
        else problems.push(toProblem(null, 'this is no folder of a pack', path));
      }
  }
  return { paths, unfinished, problems };
}

const isNumberedFolder = (entry: Dirent): boolean => entry.isDirectory() && numberForm.test(entry.name);

async function listEntries(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.toSorted((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }));
  } catch (error) {
    throw usageError(`file ${folder}`, 'the folder of the evidence cannot be read; name another one', error);
  }
}

/** The packs in the order of their sequence, those of one organisation only; reports all others. */
async function readChain(folder: string, paths: readonly string[], problems: EvidenceProblem[]) {
  const found: FoundPack[] = [];
  for (const path of paths) {
    const pack = await readManifest(folder, path).catch(readMessage);
    if (typeof pack !== 'string') found.push(pack);
    else
      problems.push(
        toProblem(path, `the manifest cannot be read, so that nothing of the pack was checked: ${pack}`, manifestName),
      );
  }
  const organisation = findMainOrganisation(found);
  if (organisation === null) problems.push(toProblem(null, 'the folder has no pack that can be read'));
  const isForeign = ({ manifest }: FoundPack): boolean => manifest.organisation !== organisation;
  const others = new Set(found.filter(isForeign).map(({ manifest }) => manifest.organisation));
  for (const other of others) {
    const [one, ...more] = found.filter(({ manifest }) => manifest.organisation === other);
    const all = more.length === 0 ? 'the pack belongs' : `the pack and ${more.length} more belong`;
    problems.push(
      toProblem(
        one?.path ?? null,
        `${all} to another organisation (${other}), and nothing of that was checked`,
        manifestName,
      ),
    );
  }
  return found
    .filter((pack) => !isForeign(pack))
    .toSorted((one, other) => one.manifest.sequence - other.manifest.sequence);
}

/** The organisation with the most packs; of several, that of the first pack. */
function findMainOrganisation(packs: readonly FoundPack[]): string | null {
  const counts = new Map<string, number>();
  for (const { manifest } of packs) counts.set(manifest.organisation, (counts.get(manifest.organisation) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0] ?? null;
}

function findChainProblems({ path, manifest }: FoundPack, before: FoundPack | undefined): readonly EvidenceProblem[] {
  const problems: EvidenceProblem[] = [];
  const { sequence, former, run, pack } = manifest;
  const report = (what: string): void => void problems.push(toProblem(path, what, manifestName));
  if (path !== join(run, String(pack))) report(`the manifest is that of pack ${pack} of run ${run}`);
  if (!before) return problems;
  if (manifest.signer === null && before.manifest.signer !== null) {
    problems.push(toProblem(path, 'the pack is not signed, and the one before it is', signatureName));
  }
  const last = before.manifest.sequence;
  if (sequence === last) report(`pack ${before.path} has the same sequence number, ${sequence}`);
  else if (sequence > last + 2)
    report(`the packs ${last + 1} to ${sequence - 1} of the chain are missing before this one`);
  else if (sequence > last + 1) report(`pack ${last + 1} of the chain is missing before this one`);
  else if (former?.sha256 !== before.sha256) {
    const what = `the manifest is not the one that the next pack, ${path}, names: one of both was changed or replaced`;
    problems.push(toProblem(before.path, what, manifestName));
  }
  return problems;
}

/** Packs before the first one may be missing only where a head from an old report names the last of them. */
function findStartProblems(first: FoundPack | undefined, head: EvidenceHead | undefined): readonly EvidenceProblem[] {
  const { former } = first?.manifest ?? {};
  if (!first || !former || (former.sequence === head?.sequence && former.sha256 === head.sha256)) return [];
  const what = `the packs before ${first.manifest.sequence} are missing, and no given head names the last of them`;
  return [toProblem(first.path, what, manifestName)];
}

/** What is wrong with a head of old, which must be in the chain, or be named by its first pack. */
function findHeadProblems(head: EvidenceHead, chain: readonly FoundPack[]): readonly EvidenceProblem[] {
  const said = `the given head is pack ${head.sequence}`;
  const [first] = chain;
  const last = chain.at(-1)?.manifest.sequence ?? 0;
  if (head.sequence > last)
    return [toProblem(null, `${said}, and the chain ends with ${last}: the last packs are missing`)];
  const { former } = first?.manifest ?? {};
  const pack = chain.find(({ manifest }) => manifest.sequence === head.sequence);
  const sha256 = pack?.sha256 ?? (former?.sequence === head.sequence ? former.sha256 : null);
  if (sha256 === head.sha256) return [];
  if (sha256 !== null)
    return [toProblem(pack?.path ?? null, `${said} with another digest: the chain was rebuilt since`, manifestName)];
  return [toProblem(null, `${said}, which is not in the chain, so that the head proves nothing`)];
}

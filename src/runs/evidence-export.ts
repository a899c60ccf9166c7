import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type ConfigError, flagError, NightscreenError, readErrorCode, readMessage, usageError } from '../errors.js';
import { manifestName, signatureName } from '../evidence/manifest.js';
import { type EvidenceHead, type FoundPack, readManifests, verifyEvidence } from '../evidence/verify.js';
import { toPackFolder } from '../evidence/write-pack.js';
import { makeFolder, makePassingFolder, syncFolder } from '../files.js';
import { digestFile, manifestJsonSchema, readWrittenFile } from '../reports/write-report.js';
import { noteKeyCopy } from '../store/evidence/keys.js';
import { findLastPack, type PackPlace, readPackPlaces } from '../store/evidence/packs.js';
import { readRevisions } from '../store/reports/revisions.js';
import { toRunId } from '../store/runs.js';
import type { AppContext } from './app-context.js';
import { openKnownKeys } from './evidence-keys.js';
import { type CustomerEvidence, findCustomer } from './evidence-show.js';
import { findRun } from './run-reference.js';
import { openOrganisation } from './session.js';

/** What is exported besides the packs and the chain. */
interface Contents {
  /** Of the subject, for the first line of README.txt. */
  title: string;
  packs: readonly PackPlace[];
  last: EvidenceHead;
  files: readonly { name: string; content: string | AsyncIterable<string>; about: string }[];
  /** Folders of reports. */
  reports: readonly { runId: string; sha256: string }[];
  /** Is called before the folder gets its name. */
  note: () => Promise<void>;
}

/**
 * Writes what belongs to the evidence about a customer to a new folder: `page` (the certificate), the same as JSON, the packs of its runs, records,
 * answers and dispositions, the manifests from the first of them to the last pack, and the keys of this customer and of these answers. Throws
 * ConfigError for a folder that is there, and where packs are missing or damaged; then nothing remains.
 */
export async function exportCustomer(
  app: AppContext,
  evidence: CustomerEvidence,
  { folder, page, by }: { folder: string; page: AsyncIterable<string>; by: string },
) {
  const { reference, roster, runs, alerts, record, erasure } = evidence;
  if (erasure !== null) {
    const message = `${reference} was erased: nothing personal is left to hand over. Export a run with --run, or see the erasure: nightscreen evidence show ${reference}`;
    throw flagError('--customer', message);
  }
  const parties = runs.flatMap((run) => run.parties);
  const answers = parties.flatMap(({ answer }) => answer ?? []);
  const said = alerts.flatMap(({ dispositions }) => dispositions.flatMap(({ pack }) => pack ?? []));
  const versions = [
    ...parties.map(({ customerVersion }) => customerVersion),
    ...(record === null ? [] : [record.version]),
  ];
  const { database } = app;
  const { organisationId } = await openOrganisation(app);
  const { customerId } = await findCustomer(app, database, reference, roster);
  const packs = await readPackPlaces(database, organisationId, {
    runIds: runs.map(({ runNumber }) => runNumber),
    sequences: [...answers.flatMap(({ pack }) => pack ?? []), ...said],
    record: { customerId, versions },
  });
  const numbers = answers.map(({ number }) => number);
  const keys = [
    ...(await openKnownKeys(app, 'customer', [customerId])),
    ...(await openKnownKeys(app, 'answer', numbers)),
  ];
  const lines = keys.map(
    ({ kind, id, key }) => `${JSON.stringify({ kind, id, key: Buffer.from(key).toString('base64') })}\n`,
  );
  const files = [
    {
      name: 'certificate.html',
      content: page,
      about: 'what the database says of the customer, as a page to read and print',
    },
    { name: 'evidence.json', content: `${JSON.stringify(evidence, null, 2)}\n`, about: 'the same for programs' },
    { name: 'keys.jsonl', content: lines.join(''), about: keysAbout },
  ];
  const title = `Evidence about customer ${reference} of roster ${roster} (number ${customerId} in the packs) at ${evidence.at.toISOString()}.`;
  // An erasure of the customer names the folder.
  const copy = { file: folder, host: hostname(), at: app.clock.now(), by, customer: customerId };
  const note = () => noteKeyCopy(database, copy, organisationId);
  return writeExport(app, folder, {
    title,
    packs,
    last: await findLast(app, organisationId),
    files,
    reports: [],
    note,
  });
}

const keysAbout =
  'the keys of the sealed texts about this customer, and of the answers to its requests. Namesakes share an answer: it has nothing but the name and what the service found for it. No other key is here. Anybody with this file can read these texts for ever, also after an erasure';

/**
 * Writes what belongs to a run to a new folder: its packs, the manifests from the first of them to the last pack, and the folder of its report. It
 * holds no keys. Gives also the run whose report is no longer there. Throws as `exportCustomer`.
 */
export async function exportRun(app: AppContext, { run, folder }: { run: string; folder: string }) {
  const { database, settings } = app;
  const found = await findRun(database, settings.organisation, run);
  const { organisationId } = found;
  const packs = await readPackPlaces(database, organisationId, { runIds: [found.runId], sequences: [], record: null });
  const runId = toRunId(found);
  const sha256 = (await readRevisions(database, found)).at(-1)?.manifestSha256 ?? null;
  const reports = sha256 === null ? [] : [{ runId, sha256 }];
  const last = await findLast(app, organisationId);
  const note = async () => {};
  return writeExport(app, folder, { title: `Evidence of run ${runId}.`, packs, last, files: [], reports, note });
}

async function findLast({ database }: AppContext, organisationId: number): Promise<EvidenceHead> {
  const last = await findLastPack(database, organisationId);
  if (last !== null) return last;
  throw refuse('no pack of evidence was written yet', 'see evidence.dir in the configuration');
}

const refuse = (what: string, next: string, cause?: unknown): ConfigError =>
  usageError('evidence', `nothing was exported: ${what}; ${next}`, cause);

async function writeExport(app: AppContext, folder: string, contents: Contents) {
  const { dir } = app.settings.evidence;
  if (dir === null) throw refuse('evidence is off', 'name the folder of the packs in evidence.dir');
  if (existsSync(folder))
    throw usageError(`folder ${folder}`, 'it exists, and nothing there is overwritten; name a new one');
  const chain = await readChainOf(dir, contents);
  await makeFolder(dirname(folder), 'name another folder');
  const passing = await makePassingFolder(dirname(folder), basename(folder));
  try {
    await copyPacks(dir, passing, chain, contents.packs);
    await copyChain(dir, passing, chain);
    for (const { name, content } of contents.files) await writeFile(join(passing, name), content, { mode: 0o600 });
    const missing = await copyReports(app, passing, contents.reports);
    for (const name of programs) {
      await copyFile(createRequire(import.meta.url).resolve(`#docs/${name}`), join(passing, name));
    }
    await writeFile(join(passing, 'README.txt'), renderReadme(contents, chain), { mode: 0o600 });
    await contents.note();
    await rename(passing, folder);
    await syncFolder(dirname(folder));
    return {
      folder,
      packs: contents.packs.length,
      chain: { from: chain[0]?.manifest.sequence ?? 0, to: contents.last },
      missing,
    };
  } catch (error) {
    if (error instanceof NightscreenError || readErrorCode(error) === null) throw error;
    throw refuse(readMessage(error), 'free disk space, or name another folder', error);
  } finally {
    await rm(passing, { recursive: true, force: true });
  }
}

const programs = ['verify-evidence.py', 'verify-export.py', 'open-sealed.mjs'];

/** The manifests from the first of the packs to the last one of the database. Throws ConfigError where the folder has others, or a gap. */
async function readChainOf(dir: string, { packs, last }: Contents): Promise<readonly FoundPack[]> {
  const next =
    'check the folder with `nightscreen evidence verify`, or make missing packs again with `nightscreen evidence write`';
  const [first] = packs;
  if (first === undefined) throw refuse('the runs concerned have no pack of evidence', 'evidence was off then');
  const waiting = packs.find(({ manifestSha256 }) => manifestSha256 === null);
  if (waiting)
    throw refuse(
      `the pack ${waiting.number} of run ${waiting.runId} waits to be written`,
      'write it with `nightscreen evidence write`',
    );
  const from = first.sequence ?? 0;
  const chain = (await readManifests(dir)).filter(
    ({ manifest: { sequence } }) => sequence >= from && sequence <= last.sequence,
  );
  for (const [at, { manifest, path }] of chain.entries()) {
    const before = chain[at - 1];
    const isNext = before === undefined ? manifest.sequence === from : manifest.former?.sha256 === before.sha256;
    if (!isNext) throw refuse(`pack ${path} does not follow the pack before it`, next);
  }
  const inFolder = new Map(chain.map(({ manifest, sha256 }) => [manifest.sequence, sha256]));
  for (const { sequence, manifestSha256 } of [...packs, { sequence: last.sequence, manifestSha256: last.sha256 }]) {
    if (inFolder.get(sequence ?? 0) !== manifestSha256)
      throw refuse(`${dir} does not have pack ${sequence} as it was written`, next);
  }
  return chain;
}

/** Copies whole packs byte for byte, neighbours of the chain into one folder, and verifies the copies. */
async function copyPacks(
  dir: string,
  to: string,
  chain: readonly FoundPack[],
  packs: readonly PackPlace[],
): Promise<void> {
  const wanted = new Set(packs.map(({ sequence }) => sequence));
  const groups: FoundPack[][] = [];
  for (const [at, pack] of chain.entries()) {
    if (!wanted.has(pack.manifest.sequence)) continue;
    const isNeighbour = wanted.has(chain[at - 1]?.manifest.sequence ?? null);
    if (!isNeighbour) groups.push([]);
    groups.at(-1)?.push(pack);
  }
  for (const group of groups) {
    const name = `packs/${group[0]?.manifest.sequence}-${group.at(-1)?.manifest.sequence}`;
    for (const { path, manifest } of group) {
      const copy = toPackFolder(join(to, name), manifest.run, manifest.pack);
      await mkdir(copy, { recursive: true, mode: 0o700 });
      for (const file of await readdir(join(dir, path))) await copyFile(join(dir, path, file), join(copy, file));
    }
    const former = group[0]?.manifest.former ?? undefined;
    const { problems } = await verifyEvidence(join(to, name), { head: former });
    const [problem] = problems;
    if (problem) {
      const where = [problem.pack, problem.file].filter((part) => part !== null).join('/');
      throw refuse(
        `${where}: ${problem.what}`,
        'check the folder with `nightscreen evidence verify`, and restore the pack from a backup',
      );
    }
  }
}

async function copyChain(dir: string, to: string, chain: readonly FoundPack[]): Promise<void> {
  await mkdir(join(to, 'chain'), { mode: 0o700 });
  for (const { path, manifest } of chain) {
    await copyFile(join(dir, path, manifestName), join(to, 'chain', `${manifest.sequence}.json`));
    if (manifest.signer !== null)
      await copyFile(join(dir, path, signatureName), join(to, 'chain', `${manifest.sequence}.sig`));
  }
}

/** Copies the folders of reports with their digests checked; gives the runs whose report is no longer there. */
async function copyReports(app: AppContext, to: string, reports: Contents['reports']): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { runId, sha256 } of reports) {
    const folder = join(app.settings.reports.dir, runId);
    const found = await digestFile(join(folder, reportManifest));
    if (found === null) {
      missing.push(runId);
      continue;
    }
    if (found !== sha256)
      throw refuse(
        `${folder} is not the report as it was written`,
        'restore it from a backup, or write it again with `nightscreen report`',
      );
    const copy = join(to, 'report');
    await mkdir(copy, { mode: 0o700 });
    const { files } = manifestJsonSchema.parse(JSON.parse(await readFile(join(folder, reportManifest), 'utf8')));
    for (const file of files) {
      await writeFile(join(copy, file.name), readWrittenFile(folder, file), { mode: 0o600 }).catch((error: unknown) => {
        throw refuse(`${folder}: ${readMessage(error)}`, 'restore the report from a backup', error);
      });
    }
    await copyFile(join(folder, reportManifest), join(copy, reportManifest));
  }
  return missing;
}

const reportManifest = 'manifest.json';

function renderReadme({ title, files, reports, packs, last }: Contents, chain: readonly FoundPack[]): string {
  const [first] = chain;
  const from = first?.manifest.sequence ?? 0;
  const content = [
    ...files.map(({ name, about }) => `${name}: ${about}.`),
    ...(reports.length > 0 ? ['report/: the report of the run as it was written, if it was still there.'] : []),
    `packs/: ${packs.length} whole packs of evidence as they were written, neighbours of the chain in one folder. Their personal texts are sealed.`,
    `chain/: the manifest of each pack from ${from} to ${last.sequence}. Each one has the SHA-256 of the one before it.`,
    'verify-export.py and verify-evidence.py: verifiers in plain Python, without any library.',
  ];
  const lines = [
    title,
    `Written by Nightscreen for ${first?.manifest.organisation ?? ''}.`,
    '',
    'WHAT IS HERE',
    '',
    ...content,
    '',
    'HOW TO VERIFY IT',
    '',
    'Run: python3 verify-export.py',
    'Exit code 0 means that no pack here was changed since it was written, and that the chain is whole to its last pack:',
    `${last.sequence}:${last.sha256}`,
    'Reports and mails of later runs name this pack, or a later one of the chain. Compare it with one that you keep: nobody can rewrite the chain without contradicting it.',
    ...(chain.some(({ manifest }) => manifest.signer !== null) ? signatureLines : []),
    '',
    ...(files.length > 0
      ? keyLines
      : ['No key is here: nobody can read the sealed texts without the keys of the organisation.', '']),
    'WHAT IT DOES NOT PROVE',
    '',
    'What the lists of the service held at that time: the service does not disclose their versions.',
  ];
  return `${lines.join('\n')}\n`;
}

const signatureLines = [
  'A manifest is signed. To check a signature with OpenSSL 3 and the public key of the organisation (key.pem):',
  'base64 -d chain/N.sig > sig.bin && openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in chain/N.json -sigfile sig.bin',
];

const keyLines = [
  'HOW TO READ A SEALED TEXT',
  '',
  'Take a line of a pack (zcat packs/.../customers.jsonl.gz) with the number of the customer or of an answer, its "sealed", and the key of keys.jsonl.',
  'ABOUT is record/CUSTOMER/VERSION, change/CHANGE, event/EVENT, disposition/DISPOSITION or answer/ANSWER, with the numbers of the line.',
  'With Node.js: node open-sealed.mjs KEY ABOUT SEALED',
  'It fails for another key and for a text that was changed.',
  '',
];

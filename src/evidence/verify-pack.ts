import { createHash, createPublicKey, verify } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readMessage } from '../errors.js';
import {
  describeMistake,
  type LineFileName,
  type ListedFile,
  manifestName,
  manifestSchema,
  type PackManifest,
  runName,
  signatureName,
  sumsName,
} from './manifest.js';
import type { PackLines } from './pack-lines.js';
import { type FoundFile, readLines, readWhole } from './read-file.js';

/** What is wrong, and where: the path of the pack below the folder, the file, the line counted from 1. */
export interface EvidenceProblem {
  pack: string | null;
  file: string | null;
  line: number | null;
  what: string;
}

/** A pack whose manifest could be read. */
export interface FoundPack {
  path: string;
  manifest: PackManifest;
  sha256: string;
}

/** Reads the manifest of a pack, and checks that it is in its form. */
export async function readManifest(folder: string, path: string): Promise<FoundPack> {
  const bytes = await readWhole(join(folder, path, manifestName));
  const { data, error } = manifestSchema.safeParse(parseJson(bytes));
  if (error) throw new Error(`it has not the form of a manifest: ${describeMistake(error)}`);
  return { path, manifest: data, sha256: digest(bytes) };
}

const parseJson = (bytes: Buffer): unknown => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const count = z.int().min(0);

/** The part of run.json that is checked. */
const runSchema = z.looseObject({
  schema: z.literal('nightscreen/evidence-run/1'),
  run: z.looseObject({}),
  counts: z
    .looseObject({
      inScope: count,
      planned: count,
      skipped: count,
      screened: count,
      reused: count,
      failed: count,
      remaining: count,
    })
    .nullable(),
  unaccepted: z.record(z.string(), count).optional(),
});
type RunFile = z.infer<typeof runSchema>;

/** Checks the files of one pack against its manifest and each other, and its lines against the packs before it. */
export class PackCheck {
  readonly problems: EvidenceProblem[] = [];
  /** The lines of all files but run.json. */
  records = 0;
  /** The public key whose signature holds, as the manifest names it. */
  signer: string | null = null;
  private readonly folder: string;
  private readonly pack: FoundPack;
  private readonly lines: PackLines;
  private present: ReadonlySet<string> = new Set();
  /** The digests of the bytes on disk. Files that have a problem already are not in it. */
  private readonly onDisk = new Map<string, string>();

  constructor(folder: string, pack: FoundPack, lines: PackLines) {
    this.folder = join(folder, pack.path);
    this.pack = pack;
    this.lines = lines;
  }

  async run(): Promise<void> {
    await this.checkNames();
    const run = await this.checkRunFile();
    // Customers refer to the answers of their own pack.
    const hasAnswers = await this.checkLines('answers.jsonl.gz');
    const hasCustomers = await this.checkLines('customers.jsonl.gz');
    this.lines.closeIndex(hasAnswers && hasCustomers);
    await this.checkLines('changes.jsonl.gz');
    await this.checkLines('dispositions.jsonl.gz');
    if (hasCustomers && run) this.checkBalance(run);
    this.onDisk.set(manifestName, this.pack.sha256);
    await this.checkSignature();
    await this.checkSums();
  }

  private report(file: string, what: string, line: number | null = null): void {
    this.problems.push({ pack: this.pack.path, file, line, what });
  }

  /** The names of all files but SHA256SUMS, in the order written. */
  private listNames(): readonly string[] {
    const { files, signer } = this.pack.manifest;
    const names: string[] = files.map(({ name }) => name);
    names.push(manifestName);
    if (signer !== null) names.push(signatureName);
    return names;
  }

  private async checkNames(): Promise<void> {
    const expected = new Set([...this.listNames(), sumsName]);
    this.present = new Set(await readdir(this.folder));
    for (const name of expected) if (!this.present.has(name)) this.report(name, 'the file is missing');
    for (const name of this.present) if (!expected.has(name)) this.report(name, 'the file does not belong to the pack');
  }

  /** Reads a file that is there; null for one that is not, or that cannot be read, which is then reported. */
  private async readFile(name: string): Promise<Buffer | null> {
    if (!this.present.has(name)) return null;
    return readWhole(join(this.folder, name)).catch((error: unknown) => {
      this.report(name, `the file cannot be read: ${readMessage(error)}`);
      return null;
    });
  }

  private async checkRunFile(): Promise<RunFile | null> {
    const name = runName;
    const bytes = await this.readFile(name);
    if (bytes === null) return null;
    const sha256 = digest(bytes);
    const lines = bytes.reduce((sum, byte) => sum + (byte === 0x0a ? 1 : 0), 0);
    this.compare(name, { bytes: bytes.length, lines, sha256, packedSha256: sha256, wrong: null, failure: null });
    try {
      const { data, error } = runSchema.safeParse(parseJson(bytes));
      if (!error) return data;
      this.report(name, `the file has not its form: ${describeMistake(error)}`);
    } catch {
      this.report(name, 'the file is no JSON');
    }
    return null;
  }

  /** Gives whether all lines of the file were read and are right; true where the pack has no such file. */
  private async checkLines(name: LineFileName): Promise<boolean> {
    if (this.pack.manifest.files.every((file) => file.name !== name)) return true;
    if (!this.present.has(name)) return false;
    const found = await readLines(join(this.folder, name), this.lines.startFile(name));
    this.records += found.lines;
    if (found.wrong) this.report(name, found.wrong.what, found.wrong.line);
    this.compare(name, found);
    return found.wrong === null && found.failure === null;
  }

  private compare(name: string, found: FoundFile): void {
    const listed = this.pack.manifest.files.find((file) => file.name === name);
    if (!listed) return;
    const isRight = found.sha256 === listed.sha256 && found.bytes === listed.bytes && found.lines === listed.lines;
    if (found.failure !== null)
      this.report(name, `${found.failure}; ${found.lines} lines could be read, of ${listed.lines}`);
    else if (!isRight) this.report(name, describeDifference(found, listed));
    else if (found.wrong === null) this.onDisk.set(name, found.packedSha256);
  }

  private checkBalance({ counts, unaccepted = {} }: RunFile): void {
    const reasons = new Set([...Object.keys(unaccepted), ...this.lines.unaccepted.keys()]);
    for (const reason of reasons) {
      const [said = 0, found = 0] = [unaccepted[reason], this.lines.unaccepted.get(reason)];
      if (said !== found) this.report(runName, `unaccepted.${reason} is ${said}, and the gaps give ${found}`);
    }
    if (!counts) return;
    const { skipped, reused, screened, remaining, failed } = this.lines.customers;
    const outside = Object.values(unaccepted).reduce((sum, customers) => sum + customers, 0);
    const lines = skipped + reused + screened + remaining + failed;
    const sums = {
      inScope: lines + outside,
      skipped: skipped + outside,
      planned: lines - skipped,
      screened,
      reused,
      failed,
      remaining,
    };
    const wrong = Object.entries(sums).flatMap(([name, sum]) =>
      counts[name] === sum ? [] : [`${name} is ${counts[name]}, and the lines give ${sum}`],
    );
    if (wrong.length > 0) this.report(runName, `the counts and the lines of customers differ: ${wrong.join('; ')}`);
  }

  private async checkSignature(): Promise<void> {
    const { signer } = this.pack.manifest;
    if (signer === null) return;
    const text = await this.readFile(signatureName);
    if (text === null) return;
    const manifest = await readWhole(join(this.folder, manifestName));
    if (isSignature(text.toString('latin1'), manifest, signer)) {
      this.signer = signer;
      this.onDisk.set(signatureName, digest(text));
    } else this.report(signatureName, 'this is no signature of the manifest by the signer that the manifest names');
  }

  private async checkSums(): Promise<void> {
    const text = (await this.readFile(sumsName))?.toString('latin1');
    if (text === undefined) return;
    const names = this.listNames();
    const lines = text.split('\n');
    if (lines.pop() !== '') this.report(sumsName, 'the last line has no line feed', lines.length + 1);
    for (const [at, name] of names.entries()) {
      const [, hex, named] = /^([0-9a-f]{64}) {2}(.+)$/.exec(lines[at] ?? '') ?? [];
      const found = this.onDisk.get(name);
      // The manifest has shown that run.json is right.
      if (named !== name || (name === runName && found !== undefined && found !== hex))
        return this.report(sumsName, `the line is not the digest of ${name}`, at + 1);
      if (found !== undefined && found !== hex)
        this.report(name, `the bytes of the file and line ${at + 1} of ${sumsName} differ; one of both was changed`);
    }
    if (lines.length > names.length) this.report(sumsName, 'the line is about no file of the pack', names.length + 1);
  }
}

function describeDifference(found: FoundFile, listed: ListedFile): string {
  if (found.lines !== listed.lines) return `the file has ${found.lines} lines, and the manifest says ${listed.lines}`;
  const said = 'the content is not the one that the manifest describes';
  return found.wrong ? said : `${said}; each line is well formed, so that the changed line cannot be named`;
}

/** The form of a signature is strict: a changed last sign of base64 may give the same bytes. */
function isSignature(text: string, manifest: Uint8Array, signer: string): boolean {
  const signature = Buffer.from(text, 'base64');
  if (`${signature.toString('base64')}\n` !== text) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(signer, 'base64'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' && verify(null, manifest, key, signature);
  } catch {
    return false;
  }
}

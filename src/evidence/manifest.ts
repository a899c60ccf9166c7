import { z } from 'zod';
import { packEndings } from '../vocabulary.js';

/** The first file of each pack. */
export const runName = 'run.json';

/** The files with lines, in the order of a pack, after run.json. */
export const lineFileNames = [
  'customers.jsonl.gz',
  'answers.jsonl.gz',
  'changes.jsonl.gz',
  'dispositions.jsonl.gz',
] as const;
export type LineFileName = (typeof lineFileNames)[number];

/** The files that a manifest lists, in their order. */
const contentNames = [runName, ...lineFileNames] as const;

/** The files that a manifest does not list: itself, its signature, and the digests of all others. */
export const manifestName = 'manifest.json';
export const signatureName = 'manifest.sig';
export const sumsName = 'SHA256SUMS';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'is no SHA-256 in hex');
const count = z.int().min(0);
const ordinal = z.int().min(1);

/** A place in the chain: the sequence number of a pack and the digest of its manifest. */
export const chainHeadSchema = z.strictObject({ sequence: ordinal, sha256 });
export type EvidenceHead = z.infer<typeof chainHeadSchema>;

const headSchema = z.strictObject({
  organisation: z.string().min(1),
  sequence: ordinal,
  run: z.string().regex(/^[1-9]\d{0,15}$/, 'is no number of a run'),
  pack: ordinal,
  ending: z.enum(packEndings),
  former: chainHeadSchema.nullable(),
  createdAt: z.iso.datetime(),
  version: z.string().min(1),
});

/** What a manifest says besides its files: the run, the place in the chain, and the pack before it (null for the first). */
export type PackHead = z.infer<typeof headSchema>;

const listedFileSchema = z.strictObject({ name: z.enum(contentNames), bytes: count, lines: count, sha256 });

/** A file by its content, which for the files with lines is what gunzip gives; `sha256` in hex. */
export type ListedFile = z.infer<typeof listedFileSchema>;

/** `manifest.json`. The files stand in their order, run.json first, each at most once. */
export const manifestSchema = z
  .strictObject({
    schema: z.literal('nightscreen/evidence-manifest/1'),
    ...headSchema.shape,
    files: z.array(listedFileSchema),
    signer: z.base64().nullable(),
  })
  .refine(({ sequence, former }) => (former?.sequence ?? 0) === sequence - 1, {
    path: ['former'],
    error: 'is not the pack before this one',
  })
  .refine(({ files }) => files[0]?.name === contentNames[0] && isOrdered(files), {
    path: ['files'],
    error: 'do not begin with run.json or are not in their order',
  });
export type PackManifest = z.infer<typeof manifestSchema>;

const isOrdered = (files: readonly ListedFile[]): boolean => {
  const places = files.map(({ name }) => contentNames.indexOf(name));
  return places.every((place, at) => at === 0 || place > (places[at - 1] ?? place));
};

/** Says in one line where a value breaks its schema first, such as `counts.planned: expected number`. */
export function describeMistake({ issues }: z.ZodError): string {
  const [issue] = issues;
  const path = issue?.path.join('.') ?? '';
  const message = (issue?.message ?? 'is wrong').replace(/^Invalid (?:input|option): /, '');
  return path === '' ? message : `${path}: ${message}`;
}

import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll } from 'vitest';
import { z } from 'zod';
import type { LineFileName } from '../../src/evidence/manifest.js';
import { evidenceSettingsSchema } from '../../src/runs/app-context.js';
import { controls } from './small-world.js';

/** Gives a way to make folders of evidence, each with settings that name it; they are removed after the suite. Call it where hooks may be registered. */
export function openEvidenceFolders() {
  const folders: string[] = [];
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });
  return async () => {
    const dir = await mkdtemp(join(tmpdir(), 'nightscreen-evidence-'));
    folders.push(dir);
    return { dir, settings: { controls, evidence: evidenceSettingsSchema.parse({ dir }) } };
  };
}

/** The digests of all files of a folder by their paths. */
export async function digestAll(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(
      files.toSorted().map(async (file) => [
        file,
        createHash('sha256')
          .update(await readFile(file))
          .digest('hex'),
      ]),
    ),
  );
}

const lineSchema = z.looseObject({ sealed: z.string().optional() });
export type PackLine = z.infer<typeof lineSchema>;

/** The lines of a file of a pack, all or those with this field; none where the pack has no such file. */
export async function readPackLines(
  dir: string,
  pack: string,
  name: LineFileName,
  field?: string,
): Promise<readonly PackLine[]> {
  const bytes = await readFile(join(dir, pack, name)).catch(() => null);
  const texts = bytes === null ? [] : gunzipSync(bytes).toString().split('\n').slice(0, -1);
  return texts.map((text) => lineSchema.parse(JSON.parse(text))).filter((line) => field === undefined || field in line);
}

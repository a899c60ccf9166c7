import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readOfacFolder, readUnXml, type WatchlistEntry, watchlistEntrySchema } from './watchlists.js';

export type { WatchlistEntry };

/** One row of the service's dossier list (interface: Dossier summary). */
export const sandboxDossierSchema = z.strictObject({
  id: z.string().regex(/^dossier_[A-Za-z0-9]+$/),
  token: z.string().min(1),
  type: z.enum(['not_specified', 'kyc', 'kyb', 'doc']),
  status: z.enum(['draft', 'open', 'completed', 'archived', 'closed', 'needs_attention', 'approved', 'rejected']),
  name: z.string(),
  reference: z.string().nullable(),
  risk_score: z.number().int().nullable(),
  is_test: z.boolean(),
  download_status: z.string(),
  documents_count: z.number().int().min(0),
  created_at: z.iso.datetime({ offset: true }),
  updated_at: z.iso.datetime({ offset: true }),
  completed_at: z.iso.datetime({ offset: true }).nullable(),
});
/** A dossier of the sandbox's main organisation, in the shape in which it is listed. */
export type SandboxDossier = z.infer<typeof sandboxDossierSchema>;

/** How a world disturbs ranks and scores without meaning: `scoreNoise` is the largest change of a score. */
export const rankingSchema = z.strictObject({
  shuffleSeed: z.number().int().optional(),
  scoreNoise: z.number().min(0).max(1).optional(),
});
/** Disturbances of rank and score that carry no meaning. */
export interface Ranking {
  shuffleSeed?: number | undefined;
  scoreNoise?: number | undefined;
}

/** Everything the sandbox knows: listed parties, the dossiers of its main organisation, and how it ranks. */
export interface SandboxWorld {
  watchlist: readonly WatchlistEntry[];
  dossiers: readonly SandboxDossier[];
  ranking?: Ranking;
}

/** Where `loadWorld` finds its input. */
export interface WorldPaths {
  watchlists: readonly string[];
  dossiers?: string;
}

const KNOWN_FORMATS =
  'known formats: a JSON array of watchlist entries, a folder with the OFAC sdn.csv (or that file), the UN consolidated list as XML';

const readJson = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
  const text = await readFile(path, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not valid JSON`, { cause: error });
  }
  const result = schema.safeParse(value);
  if (!result.success) throw new Error(`${path} does not have the fixture format: ${z.prettifyError(result.error)}`);
  return result.data;
};

const readWatchlist = async (path: string): Promise<WatchlistEntry[]> => {
  const found = await stat(path).catch((error: unknown) => {
    throw new Error(`no watchlist at ${path}; ${KNOWN_FORMATS}`, { cause: error });
  });
  if (found.isDirectory()) {
    const hasSdn = await stat(join(path, 'sdn.csv')).then(
      () => true,
      () => false,
    );
    if (hasSdn) return readOfacFolder(path);
    throw new Error(`${path} holds no sdn.csv; ${KNOWN_FORMATS}`);
  }
  if (path.endsWith('sdn.csv')) return readOfacFolder(join(path, '..'));
  if (path.endsWith('.json')) return readJson(path, z.array(watchlistEntrySchema));
  if (path.endsWith('.xml')) return readUnXml(path);
  throw new Error(`${path} is no watchlist that can be read; ${KNOWN_FORMATS}`);
};

/** Reads watchlists and dossiers from files; throws an Error that names the path and the known formats. */
export async function loadWorld(paths: WorldPaths): Promise<SandboxWorld> {
  const lists = await Promise.all(paths.watchlists.map(readWatchlist));
  const dossiers = paths.dossiers === undefined ? [] : await readJson(paths.dossiers, z.array(sandboxDossierSchema));
  return { watchlist: lists.flat(), dossiers };
}

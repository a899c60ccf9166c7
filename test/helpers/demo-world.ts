import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { canarySchema } from '../../src/matches/canary.js';
import { toFileRoster } from '../../src/roster/settings.js';
import { loadWorld, type SandboxWorld } from '../../src/sandbox/world.js';

const fixture = (name: string): string => new URL(`../../fixtures/demo/${name}`, import.meta.url).pathname;

/** The demo's service on its first night or after the known changes. */
export async function loadDemoWorld(night: 'before' | 'after'): Promise<SandboxWorld> {
  const world = await loadWorld({
    watchlists: [fixture(`watchlist-${night}.json`)],
    dossiers: fixture(`dossiers-${night}.json`),
  });
  return night === 'before' ? world : { ...world, ranking: { shuffleSeed: 7, scoreNoise: 0.004 } };
}

/** The demo's roster. */
export const demoRoster = toFileRoster('demo', fixture('roster.csv'));

/** The demo's control searches. */
export const readDemoCanaries = async () =>
  z.array(canarySchema).parse(JSON.parse(await readFile(fixture('canaries.json'), 'utf8')));

const expectedSchema = z.object({
  matches: z.array(
    z.object({
      reference: z.string(),
      kind: z.string(),
      matchId: z.string(),
      matchName: z.string(),
      fields: z.array(z.string()),
    }),
  ),
  dossiers: z.array(
    z.object({
      dossierId: z.string(),
      kind: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      fields: z.array(z.string()),
    }),
  ),
});

/** Exactly what must be found to have changed between the two nights. */
export const readExpectedChanges = async () =>
  expectedSchema.parse(JSON.parse(await readFile(fixture('expected-changes.json'), 'utf8')));

import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { buildSandboxDossier } from '../helpers/small-world.js';

/** What the service is to have from now on. */
export interface SweepWorld {
  dossiers: number;
  latencyMs: number;
}

/** What the service tells: where it is, and on `calls` when each page of dossiers was asked for since it was last asked. */
export type SweepServiceMessage =
  | { kind: 'ready'; url: string; privateKey: string }
  | { kind: 'calls'; atMs: number[] };

const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
const tell = (message: SweepServiceMessage): void => void process.send?.(message);
let told = 0;

process.on('message', (order: SweepWorld | 'calls') => {
  if (order === 'calls') {
    const calls = sandbox.ledger();
    tell({ kind: 'calls', atMs: calls.slice(told).flatMap(({ path, atMs }) => (path === '/dossiers' ? [atMs] : [])) });
    told = calls.length;
    return;
  }
  const { dossiers, latencyMs } = order;
  sandbox.setWorld({
    watchlist: [],
    dossiers: Array.from({ length: dossiers }, (_, at) => buildSandboxDossier(at + 1)),
  });
  sandbox.setWeather({ latencyMs: { min: latencyMs, max: latencyMs } });
});
process.on('disconnect', () => process.exit());
tell({ kind: 'ready', url: sandbox.url, privateKey: sandbox.privateKey });

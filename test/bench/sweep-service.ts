import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { buildSandboxDossier } from '../helpers/small-world.js';

/** What the service is to have from now on. */
interface SweepWorld {
  dossiers: number;
  latencyMs: number;
}

/** What the service tells: where it is, and on `calls` how many pages of dossiers were asked for since it was last asked. */
export type SweepServiceMessage = { kind: 'ready'; url: string; privateKey: string } | { kind: 'calls'; calls: number };

const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
const emit = (message: SweepServiceMessage): void => void process.send?.(message);
let reported = 0;

process.on('message', (order: SweepWorld | 'calls') => {
  if (order === 'calls') {
    const calls = sandbox.ledger();
    emit({ kind: 'calls', calls: calls.slice(reported).filter(({ path }) => path === '/dossiers').length });
    reported = calls.length;
    return;
  }
  const { dossiers, latencyMs } = order;
  sandbox.setWorld({
    watchlist: [],
    dossiers: Array.from({ length: dossiers }, (_, at) => buildSandboxDossier(at + 1)),
  });
  sandbox.setConditions({ latencyMs: { min: latencyMs, max: latencyMs } });
});
process.on('disconnect', () => process.exit());
emit({ kind: 'ready', url: sandbox.url, privateKey: sandbox.privateKey });

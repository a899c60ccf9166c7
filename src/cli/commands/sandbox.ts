import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import type { loadWorld } from '../../sandbox/world.js';
import { findDemoFixture } from '../demo-fixtures.js';
import { examples } from '../examples.js';
import { formatTable } from '../format-table.js';
import type { Act } from '../invocation.js';
import { parseWholeNumber } from '../parse-number.js';
import { waitForAbort } from '../wait-for-abort.js';

interface SandboxCommandOptions {
  port: number;
  watchlist?: string[];
  dossiers?: string;
}

type WorldPaths = Parameters<typeof loadWorld>[0];

/** The demo's dossiers belong to the demo's watchlist: with lists of one's own there are none unless they are named. */
function choosePaths({ watchlist, dossiers }: SandboxCommandOptions): WorldPaths {
  if (watchlist) return { watchlists: watchlist, ...(dossiers === undefined ? {} : { dossiers }) };
  return {
    watchlists: [findDemoFixture('watchlist-before.json')],
    dossiers: dossiers ?? findDemoFixture('dossiers-before.json'),
  };
}

async function readWorld(paths: WorldPaths): ReturnType<typeof loadWorld> {
  const sandbox = await import('../../sandbox/world.js');
  try {
    return await sandbox.loadWorld(paths);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ where: 'flag --watchlist or --dossiers', path: '', message }], { cause: error });
  }
}

async function listenOn(port: number, world: Awaited<ReturnType<typeof loadWorld>>) {
  const { startSandbox } = await import('../../sandbox/start-sandbox.js');
  try {
    return await startSandbox({ port, world });
  } catch (error) {
    const message = `port ${port} cannot be had; --port 0 takes a free one`;
    throw new ConfigError([{ where: 'flag --port', path: '', message }], { cause: error });
  }
}

/** Adds `sandbox`. */
export function addSandboxCommand(program: Command, act: Act): void {
  program
    .command('sandbox')
    .description('run a stand-in for the service on this machine until a signal')
    .option('--port <number>', 'port to listen on; 0 takes a free one', parseWholeNumber(0, 65_535), 0)
    .option('--watchlist <path...>', 'lists to search: fixture JSON, OFAC folder, UN XML (default: the demo list)')
    .option('--dossiers <file>', 'dossiers to list, as fixture JSON')
    .addHelpText('after', examples(['sandbox --port 8080', 'sandbox --watchlist ./ofac ./un.xml --json']))
    .action((options: SandboxCommandOptions) =>
      act(async ({ options: { json }, terminal, signal }) => {
        const world = await readWorld(choosePaths(options));
        const sandbox = await listenOn(options.port, world);
        const { url, privateKey, publicKey, livePrivateKey, otherPrivateKey } = sandbox;
        const { workflowToken, kycLevel, kybLevel, jwt } = sandbox;
        const access = {
          url,
          privateKey,
          publicKey,
          livePrivateKey,
          otherPrivateKey,
          workflowToken,
          kycLevel,
          kybLevel,
          jwt,
        };
        const lists = `${world.watchlist.length} listed parties, ${world.dossiers.length} dossiers`;
        if (json) await terminal.writeData(`${JSON.stringify(access)}\n`);
        else terminal.writeMessage(`sandbox ready: ${lists}\n${formatTable(Object.entries(access))}`);
        await waitForAbort(signal);
        await sandbox.close();
        return null;
      }),
    );
}

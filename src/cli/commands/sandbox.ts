import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { keyVariable } from '../../config/environment.js';
import { flagError } from '../../errors.js';
import { writePrivately } from '../../files.js';
import type { loadWorld } from '../../sandbox/world.js';
import type { Act } from '../invocation.js';
import { examples, parseWholeNumber, shared } from '../options.js';
import { findDemoFixture, waitForAbort } from '../process.js';

interface SandboxCommandOptions {
  port: number;
  watchlist?: string[];
  dossiers?: string;
  keyFile?: string;
}

/** The demo's dossiers belong to the demo's watchlist: other lists have none unless `--dossiers` names them. */
function choosePaths({ watchlist, dossiers }: SandboxCommandOptions): Parameters<typeof loadWorld>[0] {
  if (watchlist) return { watchlists: watchlist, ...(dossiers === undefined ? {} : { dossiers }) };
  return {
    watchlists: [findDemoFixture('watchlist-before.json')],
    dossiers: dossiers ?? findDemoFixture('dossiers-before.json'),
  };
}

async function readWorld(paths: Parameters<typeof loadWorld>[0]): ReturnType<typeof loadWorld> {
  const sandbox = await import('../../sandbox/world.js');
  try {
    return await sandbox.loadWorld(paths);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw flagError('--watchlist or --dossiers', message, error);
  }
}

async function listenOn(port: number, world: Awaited<ReturnType<typeof loadWorld>>, privateKey: string | undefined) {
  const { startSandbox } = await import('../../sandbox/start-sandbox.js');
  try {
    return await startSandbox({ port, world, privateKey });
  } catch (error) {
    throw flagError('--port', `port ${port} is not available; --port 0 takes a free one`, error);
  }
}

/** The key that an earlier sandbox has written; undefined without a file. Throws ConfigError for any other file, which stays as it is. */
async function readKept(file: string | undefined): Promise<string | undefined> {
  if (file === undefined || !existsSync(file)) return undefined;
  const { isPrivateTestKey } = await import('../../sandbox/keys.js');
  const key = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  if (isPrivateTestKey(key)) return key;
  throw flagError('--key-file', `${file} holds no key of a sandbox and stays as it is; name another file`);
}

async function writeKey(file: string, key: string): Promise<void> {
  try {
    await writePrivately(file, `${key}\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw flagError('--key-file', `cannot be written: ${reason}`, error);
  }
}

/** Adds `sandbox`. */
export function addSandboxCommand(program: Command, act: Act): void {
  program
    .command('sandbox')
    .description('simulate the service on this machine until a signal')
    .addOption(shared('port', '<number>').argParser(parseWholeNumber(0, 65_535)).default(0))
    .option('--watchlist <path...>', 'lists to search: fixture JSON, OFAC folder, UN XML (default: the demo list)')
    .option('--dossiers <file>', 'dossiers to list, as fixture JSON')
    .addOption(shared('key-file', '<file>'))
    .addHelpText(
      'after',
      examples(['sandbox --port 8080 --key-file ./sandbox-key', 'sandbox --watchlist ./ofac ./un.xml --json']),
    )
    .action((options: SandboxCommandOptions) =>
      act(async ({ options: { json, quiet }, folder, terminal, signal }) => {
        const world = await readWorld(choosePaths(options));
        const keyFile = options.keyFile === undefined ? undefined : resolve(folder, options.keyFile);
        const sandbox = await listenOn(options.port, world, await readKept(keyFile));
        const { url, privateKey, publicKey, livePrivateKey, otherPrivateKey } = sandbox;
        const { workflowToken, kycLevel, kybLevel, jwt } = sandbox;
        const keys = { url, privateKey, publicKey, livePrivateKey, otherPrivateKey };
        const access = { ...keys, workflowToken, kycLevel, kybLevel, jwt };
        if (keyFile !== undefined) {
          await writeKey(keyFile, privateKey).catch(async (error: unknown) => {
            await sandbox.close();
            throw error;
          });
        }
        const lists = `${world.watchlist.length} listed parties, ${world.dossiers.length} dossiers`;
        const invented =
          options.watchlist === undefined
            ? 'its names are invented and from no real sanctions list: it finds no real sanctioned name. Try Clémence Montévrain\n'
            : '';
        if (json) await terminal.writeData(`${JSON.stringify(access)}\n`);
        else {
          const others =
            'paste these two lines into a second terminal; Ctrl-C ends the sandbox, --json prints its other keys';
          if (!quiet) terminal.writeMessage(`sandbox ready: ${lists}\n${invented}${others}\n`);
          await terminal.writeData(`export NIGHTSCREEN_BASE_URL=${url}\nexport ${keyVariable}=${privateKey}\n`);
        }
        await waitForAbort(signal);
        await sandbox.close();
        return null;
      }),
    );
}

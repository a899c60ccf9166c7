import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { keyVariable } from '../../config/environment.js';
import { flagError } from '../../errors.js';
import { writePrivately } from '../../files.js';
import type { loadWorld } from '../../sandbox/world.js';
import { defineCommand, text, withDefault } from '../command.js';
import { shared } from '../options.js';
import { findDemoFixture, waitForAbort } from '../process.js';

/** The demo's dossiers belong to the demo's list: other lists have none unless `--dossiers` names them. */
function choosePaths(lists: readonly string[], dossiers: string | undefined): Parameters<typeof loadWorld>[0] {
  if (lists.length > 0) return { watchlists: lists, ...(dossiers === undefined ? {} : { dossiers }) };
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
    throw flagError('--dossiers or argument lists', message, error);
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

/** The key that an earlier sandbox has written; undefined without a file. Throws ConfigError for any other file. */
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

export const command = defineCommand({
  usage: 'sandbox [lists...]',
  description:
    'simulate the service on this machine until a signal; searches lists (fixture JSON, OFAC folder, UN XML), by default that of the demo',
  options: {
    port: withDefault(shared.port, 0),
    dossiers: text('<file>', 'dossiers to list, as fixture JSON'),
    keyFile: shared.keyFile,
  },
  examples: ['sandbox --port 8080 --key-file ./sandbox-key', 'sandbox ./ofac ./un.xml --json'],
  run: async ({ argument: lists, options, invocation, signal }) => {
    const { folder, terminal } = invocation;
    const { json, quiet } = invocation.options;
    const world = await readWorld(choosePaths(lists, options.dossiers));
    const keyFile = options.keyFile === undefined ? undefined : resolve(folder, options.keyFile);
    const sandbox = await listenOn(options.port, world, await readKept(keyFile));
    const { close, url, privateKey } = sandbox;
    if (keyFile !== undefined) {
      await writeKey(keyFile, privateKey).catch(async (error: unknown) => {
        await close();
        throw error;
      });
    }
    if (json) {
      const { publicKey, livePrivateKey, otherPrivateKey, workflowToken, kycLevel, kybLevel, jwt } = sandbox;
      const keys = { url, privateKey, publicKey, livePrivateKey, otherPrivateKey };
      await terminal.writeData(`${JSON.stringify({ ...keys, workflowToken, kycLevel, kybLevel, jwt })}\n`);
    } else {
      if (!quiet) terminal.writeMessage(describeWorld(world, lists.length === 0));
      await terminal.writeData(`export NIGHTSCREEN_BASE_URL=${url}\nexport ${keyVariable}=${privateKey}\n`);
    }
    await waitForAbort(signal);
    await close();
    return null;
  },
});

function describeWorld({ watchlist, dossiers }: Awaited<ReturnType<typeof loadWorld>>, isInvented: boolean): string {
  const invented =
    'its names are invented and from no real sanctions list: it finds no real sanctioned name. Try Clémence Montévrain\n';
  return [
    `sandbox ready: ${watchlist.length} listed parties, ${dossiers.length} dossiers\n`,
    isInvented ? invented : '',
    'paste these two lines into a second terminal; Ctrl-C ends the sandbox, --json prints its other keys\n',
  ].join('');
}

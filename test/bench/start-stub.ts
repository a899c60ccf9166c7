import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { StubMessage } from './stub-service.js';

/** A stub service in a process of its own. */
export interface Stub {
  /** With the version prefix. */
  url: string;
  /** How many searches it has answered. */
  countSearches(): Promise<number>;
  close(): void;
}

const script = fileURLToPath(new URL('./stub-service.ts', import.meta.url));
const tsx = createRequire(import.meta.url).resolve('tsx');

const hear = async (child: ChildProcess): Promise<StubMessage> => {
  const [message]: StubMessage[] = await once(child, 'message');
  if (!message) throw new Error('the stub service said nothing');
  return message;
};

/** Starts a stub service that answers every search with the same few matches and echoes the name. */
export async function startStub(): Promise<Stub> {
  const child = fork(script, { execArgv: ['--import', tsx] });
  const ready = await hear(child);
  if (ready.kind !== 'ready') throw new Error('the stub service did not start');
  return {
    url: ready.url,
    countSearches: async () => {
      child.send('count');
      const answer = await hear(child);
      return answer.kind === 'count' ? answer.searches : Number.NaN;
    },
    close: () => {
      child.disconnect();
    },
  };
}

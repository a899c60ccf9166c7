import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { PaceClientOrder, PaceClientReport } from './pace-client.js';
import type { PaceServiceOrder, PaceServiceReport } from './pace-service.js';

const tsx = createRequire(import.meta.url).resolve('tsx');

const start = (script: string): ChildProcess =>
  fork(fileURLToPath(new URL(script, import.meta.url)), { execArgv: ['--import', tsx] });

const hear = async <Message>(child: ChildProcess): Promise<Message> => {
  const [message]: Message[] = await once(child, 'message');
  if (message === undefined) throw new Error('the process said nothing');
  return message;
};

/** A service in a process of its own, where nothing but its own work delays what it notes. */
export interface PaceService {
  url: string;
  order(order: PaceServiceOrder): void;
  /** The searches since the last report. */
  report(): Promise<PaceServiceReport>;
  close(): void;
}

/** Starts a service that notes when each search arrives. */
export const startPaceService = async (): Promise<PaceService> => {
  const child = start('./pace-service.ts');
  const { url } = await hear<{ url: string }>(child);
  return {
    url,
    order: (order) => void child.send(order),
    report: async () => {
      child.send('report');
      return hear<PaceServiceReport>(child);
    },
    close: () => child.disconnect(),
  };
};

/** Lets a client in a process of its own search as fast as its rate allows. */
export const runPaceClient = async (order: PaceClientOrder): Promise<PaceClientReport> => {
  const child = start('./pace-client.ts');
  child.send(order);
  const report = await hear<PaceClientReport>(child);
  child.disconnect();
  return report;
};

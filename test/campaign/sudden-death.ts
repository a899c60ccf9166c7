import { Worker } from 'node:worker_threads';

// Beside the main thread, which may be deep inside a commit of the embedded database when its time comes.
const executioner = `
  const { workerData, parentPort } = require('node:worker_threads');
  const word = new Int32Array(workerData);
  parentPort.postMessage('ready');
  Atomics.wait(word, 0, 0);
  Atomics.wait(word, 1, 0, Atomics.load(word, 0) / 1000);
  process.kill(process.pid, 'SIGKILL');
`;

/** A way to end this process as kill -9 does: at once, or so many milliseconds later whatever the main thread does meanwhile. */
export interface SuddenDeath {
  now(): void;
  after(delayMs: number): void;
}

/** Prepares the end of this process. */
export async function prepareSuddenDeath(): Promise<SuddenDeath> {
  const shared = new SharedArrayBuffer(8);
  const word = new Int32Array(shared);
  const worker = new Worker(executioner, { eval: true, workerData: shared });
  await new Promise((resolve) => worker.once('message', resolve));
  worker.unref();
  return {
    now: () => void process.kill(process.pid, 'SIGKILL'),
    after: (delayMs) => {
      Atomics.store(word, 0, Math.max(1, Math.round(delayMs * 1_000)));
      Atomics.notify(word, 0);
    },
  };
}

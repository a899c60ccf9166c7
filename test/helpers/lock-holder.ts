import { once } from 'node:events';
import { lockFolder } from '../../src/store/database/folder-lock.js';

// A child process of the folder-lock test: once it is told to, it asks for the lock of argv[2] and prints what came of it. It holds the lock as
// argv[3] says: for good, as one that others wait for, or not at all.
const [, , folder = '', mode = ''] = process.argv;
process.stdout.write('ready\n');
await once(process.stdin.resume(), 'end');
try {
  const lock = await lockFolder(folder, `holder ${process.pid}`, { isBrief: mode === 'brief' });
  process.stdout.write(`${JSON.stringify({ owns: true, pid: process.pid })}\n`);
  if (mode !== 'leave') setInterval(() => lock.isHeld(), 200);
} catch (error) {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
  process.stdout.write(`${JSON.stringify({ owns: false, pid: process.pid, message })}\n`);
}

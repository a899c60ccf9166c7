import { lockFolder } from '../../src/store/folder-lock.js';

// A child process of the folder-lock test: asks for the lock of argv[2], prints what came of it, holds it for as long as argv[3] says.
const [, , folder = '', mode = ''] = process.argv;
try {
  await lockFolder(folder, `holder ${process.pid}`);
  process.stdout.write(`${JSON.stringify({ owns: true, pid: process.pid })}\n`);
  if (mode === 'hold') setInterval(() => undefined, 1_000);
} catch (error) {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
  process.stdout.write(`${JSON.stringify({ owns: false, pid: process.pid, message })}\n`);
}

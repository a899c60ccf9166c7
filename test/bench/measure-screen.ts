import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { bundleProgram } from '../helpers/cli-process.js';
import type { ScreenOrder, ScreenReport } from './screen-program.js';

/** The program that measures nights, each start of it a process of its own. */
export interface ScreenProgram {
  start(): ChildProcess;
  remove(): Promise<void>;
}

/** Compiles the program that measures nights. */
export async function bundleScreenProgram(): Promise<ScreenProgram> {
  const { path, remove } = await bundleProgram(new URL('./screen-program.ts', import.meta.url));
  return { start: () => fork(path, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }), remove };
}

/** Lets a process of it measure; throws what went wrong there. */
export async function askScreen(child: ChildProcess, order: ScreenOrder): Promise<ScreenReport> {
  child.send(order);
  const [report]: (ScreenReport | undefined)[] = await once(child, 'message');
  if (!report || report.error !== null) throw new Error(report?.error ?? 'the measuring process said nothing');
  return report;
}

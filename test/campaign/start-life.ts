import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { bundleProgram, type Program } from '../helpers/bundle-program.js';
import type { LifeEnd, LifeMessage, LifeOrder } from './life-order.js';

/** How a life came to its end: what it told itself, or null when it was killed before it could. */
export interface Death {
  told: LifeEnd | null;
  signal: NodeJS.Signals | null;
}

/** A process of a campaign that has its order. */
export interface Life {
  readonly process: ChildProcess;
  /** Resolves when the process is gone. */
  readonly death: Promise<Death>;
  /** Resolves with the milliseconds since the order when the life comes to a stage, or with null when it ends before. */
  reach(stage: string): Promise<number | null>;
}

/** Starts processes that have loaded everything and wait for their order: one is always kept ready ahead. */
export class Nursery {
  #script: Promise<Program> | undefined;
  #next: Promise<ChildProcess> | undefined;

  /** Gives a process its order. */
  async begin(order: LifeOrder): Promise<Life> {
    const child = await (this.#next ?? this.#raise());
    this.#next = this.#raise();
    this.#next.catch(() => undefined);
    return beginLife(child, order);
  }

  /** Gives so many processes orders at the same moment. */
  async beginAll(orders: readonly LifeOrder[]): Promise<readonly Life[]> {
    const children: ChildProcess[] = [];
    // A few at a time: loading is the heavy part.
    while (children.length < orders.length) {
      const few = Math.min(4, orders.length - children.length);
      children.push(...(await Promise.all(Array.from({ length: few }, () => this.#raise()))));
    }
    return orders.flatMap((order, index) => {
      const child = children[index];
      return child ? [beginLife(child, order)] : [];
    });
  }

  /** Ends the process that waits for an order that will not come. */
  async close(): Promise<void> {
    const child = await this.#next?.catch(() => undefined);
    child?.disconnect();
    await (await this.#script)?.remove();
  }

  async #raise(): Promise<ChildProcess> {
    this.#script ??= bundleProgram(new URL('./life.ts', import.meta.url));
    const { path } = await this.#script;
    const child = fork(path, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [message]: (LifeMessage | number)[] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    if (typeof message !== 'object') throw new Error(`a process of the campaign did not start (exit ${message})`);
    return child;
  }
}

function beginLife(child: ChildProcess, order: LifeOrder): Life {
  const stages = new Map<string, number>();
  const waiting = new Set<() => void>();
  let told: LifeEnd | null = null;
  let isOver = false;
  const wake = (): void => {
    for (const look of waiting) look();
  };
  child.on('message', (message: LifeMessage) => {
    if (message.kind === 'stage') stages.set(message.stage, message.afterMs);
    if (message.kind === 'ended' || message.kind === 'failed') {
      told = message;
      child.disconnect();
    }
    wake();
  });
  const death = new Promise<Death>((resolve) => {
    child.once('exit', (_code, signal) => {
      isOver = true;
      wake();
      resolve({ told, signal });
    });
  });
  child.send(order);
  return {
    process: child,
    death,
    reach: (stage) =>
      new Promise((resolve) => {
        const look = (): void => {
          const afterMs = stages.get(stage);
          if (afterMs === undefined && !isOver) return;
          waiting.delete(look);
          resolve(afterMs ?? null);
        };
        waiting.add(look);
        look();
      }),
  };
}

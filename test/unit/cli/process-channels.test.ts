import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it } from 'vitest';
import { publishExit } from '../../../src/cli/process.js';
import { publishAttempts, publishRunEvent } from '../../../src/cli/session.js';
import type { Attempt, AttemptEnd } from '../../../src/client/operation.js';

const listening: (() => void)[] = [];
afterEach(() => {
  for (const stop of listening.splice(0)) stop();
});
function listen<Message>(channel: string, heard: (message: Message) => void): void {
  const listener = (message: unknown): void => heard(message as Message);
  subscribe(channel, listener);
  listening.push(() => unsubscribe(channel, listener));
}

const at = new Date(0);
const attempt: Attempt = { operation: 'aml.search', method: 'POST', path: '/aml/search', attempt: 1, startedAt: at };
const end: AttemptEnd = {
  endedAt: at,
  isSent: true,
  status: 503,
  outcome: 'error_status',
  bytes: 0,
  requestId: undefined,
  servedAt: undefined,
};

describe('the channels of the process', () => {
  it('give each run event and each attempt to who listens, and the attempt to the observer before', () => {
    const heard: unknown[] = [];
    listen('nightscreen:run-event', (event) => heard.push(event));
    listen('nightscreen:attempt', (reported) => heard.push(reported));
    publishRunEvent({ kind: 'database_wait', isWaiting: true });
    const observer = publishAttempts({ ended: (...reported) => heard.push(['observer', ...reported]) });
    observer.started?.(attempt);
    observer.ended?.(attempt, end);
    expect(heard).toEqual([{ kind: 'database_wait', isWaiting: true }, ['observer', attempt, end], { attempt, end }]);
  });

  it('keep what an observer does before an attempt leaves, and have nothing in its place where it does nothing', async () => {
    const noted: string[] = [];
    const leaving = async (operation: string) => void noted.push(operation);
    await publishAttempts({ leaving }).leaving?.('aml.search');
    expect(noted).toEqual(['aml.search']);
    expect(publishAttempts(undefined).leaving).toBeUndefined();
  });

  it('let a process end when what listeners wait for is done or failed, and at the latest after its limit', async () => {
    await publishExit(0);
    const codes: number[] = [];
    let isDone = false;
    listen<{ exitCode: number; waitFor: (promise: Promise<unknown>) => void }>('nightscreen:exit', (reported) => {
      codes.push(reported.exitCode);
      reported.waitFor(Promise.reject(new Error('nobody collects')));
      reported.waitFor(
        new Promise<void>((resolve) => setTimeout(resolve, 20)).then(() => {
          isDone = true;
        }),
      );
    });
    await publishExit(3);
    expect([codes, isDone]).toEqual([[3], true]);
    listen<{ waitFor: (promise: Promise<unknown>) => void }>('nightscreen:exit', ({ waitFor }) =>
      waitFor(new Promise(() => {})),
    );
    const begun = Date.now();
    await publishExit(0, 50);
    expect(Date.now() - begun).toBeLessThan(5_000);
  });
});

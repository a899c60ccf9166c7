import { expect, it, vi } from 'vitest';
import { createFollowSignals, onAbort } from '../../../src/client/signals.js';

const hearWarnings = async (act: () => void): Promise<readonly Error[]> => {
  const warnings: Error[] = [];
  const note = (warning: Error): number => warnings.push(warning);
  process.on('warning', note);
  act();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  return warnings;
};

it('gives the calls of a run, however many listen to it, one signal that ends with the reason of either', async () => {
  const follow = createFollowSignals();
  const [closing, run] = [new AbortController(), new AbortController()];
  const shared = follow([closing.signal, undefined, run.signal]);
  expect(follow([closing.signal, run.signal, undefined])).toBe(shared);
  expect(await hearWarnings(() => repeat(64, () => shared.addEventListener('abort', () => undefined)))).toEqual([]);
  const stranger = follow([closing.signal]);
  run.abort(new Error('stop'));
  expect(shared.reason).toBe(run.signal.reason);
  expect(stranger.aborted).toBe(false);
  expect(follow([closing.signal, run.signal]).reason).toBe(run.signal.reason);
});

it('listens once to a signal for all who wait, without a warning, and no more after the last of them', async () => {
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  const leave: (() => void)[] = [];
  expect(await hearWarnings(() => repeat(64, () => leave.push(onAbort(signal, () => undefined))))).toEqual([]);
  expect(added).toHaveBeenCalledOnce();
  expect(removed).not.toHaveBeenCalled();
  for (const end of leave) end();
  expect(removed).toHaveBeenCalledOnce();
});

const repeat = (times: number, act: () => void): void => {
  for (let time = 0; time < times; time += 1) act();
};

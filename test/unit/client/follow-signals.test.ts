import { describe, expect, it } from 'vitest';
import { createFollowSignals } from '../../../src/client/signals.js';

describe('following the signals of calls', () => {
  it('shares one signal between calls that follow the same ones, as long as one of them does', () => {
    const follow = createFollowSignals();
    const [closing, run, other] = [new AbortController(), new AbortController(), new AbortController()];
    const first = follow(closing.signal, [run.signal, undefined]);
    const second = follow(closing.signal, [undefined, run.signal]);
    const stranger = follow(closing.signal, [other.signal]);
    expect(second.signal).toBe(first.signal);
    expect(stranger.signal).not.toBe(first.signal);
    first.clear();
    run.abort(new Error('stop'));
    expect(second.signal.reason).toBe(run.signal.reason);
    expect(stranger.signal.aborted).toBe(false);
    closing.abort(new Error('closed'));
    expect(stranger.signal.reason).toBe(closing.signal.reason);
    second.clear();
    stranger.clear();
  });

  it('lets as many calls as are under way listen to the signal that they share, without a warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    const follow = createFollowSignals();
    const { signal } = follow(new AbortController().signal, [new AbortController().signal]);
    for (let call = 0; call < 64; call += 1) signal.addEventListener('abort', () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('hears of nothing any more once the last call has let go, and still does for the next one', () => {
    const follow = createFollowSignals();
    const [closing, run] = [new AbortController(), new AbortController()];
    const first = follow(closing.signal, [run.signal]);
    first.clear();
    const second = follow(closing.signal, [run.signal]);
    run.abort(new Error('stop'));
    expect(first.signal.aborted).toBe(false);
    expect(second.signal.reason).toBe(run.signal.reason);
    second.clear();
    expect(follow(closing.signal, [run.signal]).signal.reason).toBe(run.signal.reason);
  });
});

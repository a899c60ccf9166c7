import { expect, test } from 'vitest';
import { createShareOne } from '../../../src/client/signals.js';

/** Work that ends when it is reported to. */
const startWork = () => {
  let begun = 0;
  let settle: { resolve: (value: string) => void; reject: (error: Error) => void } | undefined;
  const work = (): Promise<string> => {
    begun += 1;
    return new Promise((resolve, reject) => {
      settle = { resolve, reject };
    });
  };
  return { work, count: () => begun, end: () => settle?.resolve('done'), fail: () => settle?.reject(new Error('no')) };
};

test('what many ask at once is done once, and all get its outcome', async () => {
  const { work, count, end } = startWork();
  const shareOne = createShareOne<string>();
  const asked = Array.from({ length: 5 }, () => shareOne(work, {}));
  end();
  expect(await Promise.all(asked)).toEqual(Array(5).fill('done'));
  expect(count()).toBe(1);
});

test.each(['signal', 'waitSignal'] as const)(
  'whoever is called off by its own %s leaves at once with its reason, the others stay',
  async (name) => {
    const { work, count, end } = startWork();
    const shareOne = createShareOne<string>();
    const stop = new AbortController();
    const leaver = shareOne(work, { [name]: stop.signal });
    const stayer = shareOne(work, { signal: new AbortController().signal, waitSignal: new AbortController().signal });
    stop.abort(new Error('stop'));
    await expect(leaver).rejects.toThrow('stop');
    await expect(shareOne(work, { [name]: stop.signal })).rejects.toThrow('stop');
    end();
    expect(await stayer).toBe('done');
    expect(count()).toBe(1);
  },
);

test('whoever is called off before it asks begins nothing', async () => {
  const { work, count } = startWork();
  await expect(createShareOne<string>()(work, { waitSignal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow();
  expect(count()).toBe(0);
});

test('work that failed is forgotten: the next one who asks begins anew', async () => {
  const { work, count, end, fail } = startWork();
  const shareOne = createShareOne<string>();
  const first = shareOne(work, {});
  fail();
  await expect(first).rejects.toThrow('no');
  const second = shareOne(work, {});
  end();
  expect(await second).toBe('done');
  expect(count()).toBe(2);
});

test('work that fails when all have left is no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const { work, fail } = startWork();
  const shareOne = createShareOne<string>();
  const stop = new AbortController();
  const left = shareOne(work, { signal: stop.signal });
  stop.abort(new Error('stop'));
  await expect(left).rejects.toThrow('stop');
  fail();
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

import { afterEach, expect, test } from 'vitest';
import { type ClientEvent, Listeners } from '../../../src/client/client.js';

const event: ClientEvent = { kind: 'key_renewed', fingerprint: '0123456789ab' };
const name = 'Plantina Nominova';
const warnings: Error[] = [];
const note = (warning: Error): void => void warnings.push(warning);
afterEach(() => {
  process.off('warning', note);
  warnings.length = 0;
});

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error(name);
    },
  ],
  ['rejects', () => Promise.reject(new Error(name))],
])('a listener that %s is a warning without what it said, and the others still hear', async (_word, fail) => {
  process.on('warning', note);
  const listeners = new Listeners();
  const heard: ClientEvent[] = [];
  listeners.add(() => void heard.push(event));
  listeners.add(fail);
  listeners.add(() => void heard.push(event));
  expect(() => listeners.emit(event)).not.toThrow();
  expect(heard).toEqual([event, event]);
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(warnings).toMatchObject([{ code: 'listener_failed', message: expect.stringContaining('key_renewed') }]);
  expect(warnings.map(({ message, stack }) => `${message} ${stack}`).join()).not.toContain(name);
});

test('whoever leaves hears no more, and one that listens twice leaves once at a time', () => {
  const listeners = new Listeners();
  let heard = 0;
  const listen = (): void => {
    heard += 1;
  };
  const leave = listeners.add(listen);
  listeners.add(listen);
  listeners.emit(event);
  leave();
  listeners.emit(event);
  expect(heard).toBe(3);
});

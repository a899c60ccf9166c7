import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RunLockedError } from '../../src/errors.js';
import { lockFolder } from '../../src/store/database/folder-lock.js';
import { bundleProgram, type Program } from '../helpers/cli-process.js';
import { takeLeast } from '../helpers/figures.js';

const outcomeSchema = z.object({ owns: z.boolean(), pid: z.number(), message: z.string().optional() });

describe('the folder lock', () => {
  let folder: string;
  let children: ChildProcess[];
  let holder: Program;

  beforeAll(async () => {
    holder = await bundleProgram(new URL('../helpers/lock-holder.ts', import.meta.url));
  });
  afterAll(() => holder.remove());

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nightscreen-lock-'));
    children = [];
  });

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  /** Processes that ask for the lock at the same moment, when all of them have started. */
  async function startHolders(count: number, mode: 'hold' | 'brief' | 'leave', place = folder) {
    const started = await Promise.all(
      Array.from({ length: count }, async () => {
        const child = spawn(process.execPath, [holder.path, place, mode], { stdio: ['pipe', 'pipe', 'inherit'] });
        children.push(child);
        const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
        await lines.next();
        return { child, exited: once(child, 'exit'), lines };
      }),
    );
    for (const { child } of started) child.stdin.end();
    return Promise.all(
      started.map(async ({ child, exited, lines }) => {
        const { value } = await lines.next();
        return { child, exited, outcome: outcomeSchema.parse(JSON.parse(value ?? 'null')) };
      }),
    );
  }

  async function startHolder(mode: 'hold' | 'brief' | 'leave', place = folder) {
    const [started] = await startHolders(1, mode, place);
    if (started === undefined) throw new Error('no process has started');
    return started;
  }

  it('is won by exactly one of ten processes that start at once, and the others name it', async () => {
    const holders = await startHolders(10, 'hold');
    const owners = holders.filter((holder) => holder.outcome.owns);
    expect(owners).toHaveLength(1);
    const ownerPid = owners[0]?.outcome.pid;
    for (const { outcome } of holders.filter((holder) => !holder.outcome.owns)) {
      expect(outcome.message).toContain('RunLockedError');
      expect(outcome.message).toContain(`process ${ownerPid} on `);
      expect(outcome.message).toContain(`(holder ${ownerPid}) since 20`);
    }
    expect((await readdir(folder)).filter((name) => name.endsWith('.sock'))).toHaveLength(1);
  }, 60_000);

  it('passes to the next opener once its owner was killed, and leaves nothing of it behind', async () => {
    const { child, exited, outcome } = await startHolder('hold');
    expect(outcome.owns).toBe(true);
    child.kill('SIGKILL');
    await exited;
    const lock = await lockFolder(folder, 'next');
    expect(await readdir(folder)).toHaveLength(2);
    await lock.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('stays with an owner that is stopped, and still names it', async () => {
    const { child, outcome } = await startHolder('hold');
    child.kill('SIGSTOP');
    const leastMs = await takeLeast(6_000, async () => {
      const startedMs = performance.now();
      const refusal = await lockFolder(folder, 'impatient').catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(RunLockedError);
      expect(refusal).toMatchObject({
        code: 'run_locked',
        holder: expect.stringContaining(`process ${outcome.pid} on `),
      });
      return performance.now() - startedMs;
    });
    expect(leastMs).toBeLessThan(6_000);
    child.kill('SIGCONT');
    await expect(lockFolder(folder, 'still impatient')).rejects.toBeInstanceOf(RunLockedError);
  });

  it('is waited for where its owner is a brief one, which is said, and never longer than there is patience', async () => {
    const { child, exited, outcome } = await startHolder('brief');
    const reported: string[] = [];
    const onWait = (holder: string): void => void reported.push(holder);
    const startedMs = performance.now();
    await expect(lockFolder(folder, 'hasty', { maxWaitMs: 600, onWait })).rejects.toThrow(`process ${outcome.pid} on `);
    expect(performance.now() - startedMs).toBeGreaterThan(550);
    const stopped = new Error('stopped');
    await expect(
      lockFolder(folder, 'stopped', { maxWaitMs: 60_000, onWait, signal: AbortSignal.abort(stopped) }),
    ).rejects.toBe(stopped);
    await expect(lockFolder(folder, 'without patience', { onWait })).rejects.toBeInstanceOf(RunLockedError);
    expect(reported).toEqual([1, 2].map(() => expect.stringContaining(`process ${outcome.pid} on `)));
    const waiting = lockFolder(folder, 'patient', { maxWaitMs: 60_000, onWait });
    setTimeout(() => child.kill('SIGKILL'), 500);
    await exited;
    await (await waiting).release();
    expect(reported).toHaveLength(3);
  });

  it('of an owner that lasts is waited for by nobody', async () => {
    const { outcome } = await startHolder('hold');
    const startedMs = performance.now();
    await expect(lockFolder(folder, 'patient', { maxWaitMs: 60_000 })).rejects.toThrow(`process ${outcome.pid} on `);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('names the run of its owner, and advises a command of seconds to wait, never to stop the owner', async () => {
    const running = { progress: 'rescreen-1 of retail, stage screen, 40 of 120' as string | null };
    const lock = await lockFolder(folder, 'night', { sayProgress: () => running.progress });
    const refuse = (isBrief: boolean): Promise<unknown> =>
      lockFolder(folder, 'other', { isBrief }).catch((error: unknown) => error);
    const withRun = expect.stringMatching(
      /\(night\) since [^ ]+\. It runs rescreen-1 of retail, stage screen, 40 of 120$/,
    );
    expect(await refuse(true)).toMatchObject({ message: withRun, isForMoment: true });
    expect(await refuse(false)).toMatchObject({ message: withRun, isForMoment: false });
    running.progress = null;
    const withoutRun = expect.stringMatching(/\(night\) since [^ ]+$/);
    expect(await refuse(true)).toMatchObject({ message: withoutRun, isForMoment: true });
    await lock.release();
    const silent = await startHolder('hold');
    silent.child.kill('SIGSTOP');
    expect(await refuse(true)).toMatchObject({ message: expect.not.stringContaining('It runs'), isForMoment: true });
  });

  it('never keeps its process alive', async () => {
    const { exited, outcome } = await startHolder('leave');
    expect(outcome.owns).toBe(true);
    expect(await exited).toEqual([0, null]);
    await (await lockFolder(folder, 'next')).release();
  });

  it('is held against the same process too, and is free after release', async () => {
    const lock = await lockFolder(folder, 'first');
    await expect(lockFolder(folder, 'second')).rejects.toThrow(/process \d+ on .* \(first\) since/);
    await lock.release();
    await lock.release();
    await (await lockFolder(folder, 'second')).release();
  });

  it('is won by exactly one of many claims within one process, whichever way they interleave', async () => {
    for (let round = 0; round < 5; round += 1) {
      const claims = await Promise.allSettled(Array.from({ length: 15 }, (_, n) => lockFolder(folder, `claim ${n}`)));
      const won = claims.filter((claim) => claim.status === 'fulfilled');
      expect(won).toHaveLength(1);
      for (const claim of won) await claim.value.release();
    }
  }, 60_000);

  it('works in a folder whose path is longer than a socket address, with the socket inside the folder', async () => {
    const deep = join(folder, ...Array.from({ length: 6 }, (_, level) => `level-${level}-${'x'.repeat(30)}`));
    await mkdir(deep, { recursive: true });
    const { outcome } = await startHolder('hold', deep);
    expect(outcome.owns).toBe(true);
    expect((await readdir(deep)).filter((name) => name.endsWith('.sock'))).toHaveLength(1);
    await expect(lockFolder(deep, 'second')).rejects.toThrow(`process ${outcome.pid} on `);
  });

  it('of another host is refused by name, and the printed command frees it, which its owner notices', async () => {
    const owner = await lockFolder(folder, 'owner there', {}, { boot: 'there', host: 'host-there' });
    const refusal = await lockFolder(folder, 'here').catch(String);
    expect(refusal).toMatch(/in use by process \d+ on host-there \(owner there\) since .* another host/);
    expect(owner.isHeld(0)).toBe(true);

    const [, command = ''] = /frees the folder: (rm .*)$/.exec(String(refusal)) ?? [];
    execFileSync('sh', ['-c', command]);
    const lock = await lockFolder(folder, 'here');
    expect([owner.isHeld(0), lock.isHeld(0)]).toEqual([false, true]);
    await lock.release();
    await owner.release();
  });

  it('is free at once of an owner on this host from before its last start', async () => {
    const before = await lockFolder(folder, 'before', {}, { boot: 'an earlier start', host: hostname() });
    await (await lockFolder(folder, 'after')).release();
    await before.release();
  });
});

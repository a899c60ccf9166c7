import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeBackupFile } from '../../../src/cli/commands/db.js';
import { describeError, formatError } from '../../../src/cli/describe-error.js';
import { BackupError, ConfigError, ConnectionError, RunLockedError, StoreError } from '../../../src/errors.js';
import { writePrivately } from '../../../src/files.js';
import { readBackup } from '../../../src/store/backup/restore-backup.js';
import { DatabaseError, toDatabaseError } from '../../../src/store/database/database.js';

const refusal = (sqlState: string | undefined) =>
  new DatabaseError('refused', { sqlState, constraint: undefined, cause: undefined });

async function catchError(work: () => Promise<unknown>): Promise<unknown> {
  return work().then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.each([undefined, '08006', '57P01', '55000'])(
  'a database that goes away amid a command (SQLSTATE %s) leaves advice',
  (sqlState) => {
    expect(describeError(refusal(sqlState)).next).toMatch(/DATABASE_URL.*nightscreen doctor.*same command again/);
  },
);

test('a login without a right is sent to the doctor, and what is a fault of ours is not', () => {
  expect(describeError(refusal('42501')).next).toMatch(/lacks a right.*nightscreen doctor/);
  expect(describeError(refusal('23505')).next).toBeNull();
});

test.each(['backup_missing', 'backup_unreadable', 'backup_broken', 'database_not_empty'])(
  'a restore that is refused as %s says what next',
  (code) => {
    expect(describeError(new BackupError(code, 'refused')).next).not.toBeNull();
  },
);

test('a command of seconds is advised to wait for a run, and lasting work how to end another', () => {
  const adviceTo = (isForMoment: boolean) =>
    describeError(new RunLockedError('used', 'process 1', null, isForMoment)).next;
  expect(adviceTo(true)).toMatch(/^wait until it has finished\. With Postgres \(DATABASE_URL\)/);
  expect(adviceTo(false)).toBe('wait until it has finished, or stop it: process 1');
});

test('a full or read-only disk is said to be one, in the database and in a file of the output', () => {
  const ofFile = (code: string) => Object.assign(new Error(`${code}: no room`), { code });
  const locked = new StoreError('folder_unusable', 'the folder cannot hold the socket', { cause: ofFile('ENOSPC') });
  const atStart = new StoreError('database_unreachable', 'cannot open the database', { cause: locked });
  const inRun = toDatabaseError({ errno: 51 });
  const server = refusal('53100');
  for (const error of [atStart, inRun, server, new StoreError('folder_unusable', 'x', { cause: ofFile('EROFS') })]) {
    expect(describeError(error).next).toMatch(/^make room on the disk of the database/);
  }
  for (const code of ['ENOSPC', 'EDQUOT']) expect(describeError(ofFile(code)).next).toMatch(/^make room on that disk/);
  const backup = describeError(new StoreError('backup_not_written', 'name another file', { cause: ofFile('EROFS') }));
  expect(backup).toMatchObject({ message: 'name another file (EROFS)', next: null });
});

test('a file of the output on a full disk is named, and nothing of it is left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-advice-'));
  const noRoom = Object.assign(new Error('no room'), { code: 'ENOSPC' });
  const full = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(noRoom) }) };
  const list = join(folder, 'list.csv');
  const { message, next } = describeError(await catchError(() => writePrivately(list, full)));
  expect(message).toBe(`${list} cannot be written; nothing was left there (ENOSPC)`);
  expect(next).toMatch(/^make room on that disk/);
  expect(await readdir(folder)).toEqual([]);
});

test('a folder in the place of a backup is not called a broken backup', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-advice-'));
  const error = await catchError(() => readBackup(folder).next());
  expect(error).toMatchObject({ code: 'backup_unreadable', message: `${folder} is a folder, not a file` });
});

test('a backup into a folder that is not there names the folder to make', async () => {
  const path = join(tmpdir(), 'nightscreen-no-such-folder', 'night.backup');
  const error = await catchError(() => writeBackupFile(path, () => Promise.reject(new Error('never asked'))));
  expect(describeError(error).message).toMatch(/the folder \S+nightscreen-no-such-folder does not exist: create it/);
});

test('the doctor does not send its reader to the doctor', () => {
  const call = { method: 'GET', path: '/api_keys/public' };
  for (const error of [
    new StoreError('database_unreachable', 'refused'),
    new ConnectionError('refused', 'refused', call),
    refusal('57P01'),
    refusal('42501'),
  ]) {
    const advice = describeError(error, { isDoctor: true }).next;
    expect(advice).toMatch(/DATABASE_URL|service\.baseUrl/);
    expect(advice).not.toContain('doctor');
  }
});

test('an error fits a screen of 80 columns, word by word, and nothing of it is lost', () => {
  const message = 'is not set: set NIGHTSCREEN_BASE_URL or write it into the file, as in https://service.example/v1';
  const problems = ['service.baseUrl', 'service.mode'].map((path) => ({ where: 'default', path, message }));
  const description = describeError(new ConfigError(problems));
  const lines = formatError(description, 80).trimEnd().split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  const toWords = (text: string): readonly string[] => text.trim().split(/\s+/);
  expect(toWords(lines.join(' '))).toEqual(toWords(formatError(description)));
});

import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderOwnerError } from '../../../src/errors.js';
import { requireOwnFolder } from '../../../src/store/database/folder-ownership.js';
import { openDatabase } from '../../../src/store/database/open-database.js';

const me = process.geteuid?.() ?? 0;
/** Nobody that a system has. */
const stranger = 4_000_111;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-owner-'));
  await mkdir(join(folder, 'pgdata', 'base'), { recursive: true });
  await writeFile(join(folder, 'pgdata', 'base', '1'), '');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('whose folder the embedded database is in', () => {
  const refuse = (user?: number) =>
    requireOwnFolder(folder, 'nightscreen runs', user).then(
      () => undefined,
      (error: unknown) => error,
    );

  it('is no matter to its owner, nor where there is none yet', async () => {
    expect(await refuse()).toBeUndefined();
    await rm(folder, { recursive: true });
    expect(await refuse(stranger)).toBeUndefined();
  });

  it('refuses another user, and names the owner and what to type', async () => {
    const error = await refuse(stranger);
    expect(error).toBeInstanceOf(FolderOwnerError);
    expect(error).toMatchObject({
      code: 'folder_of_another_user',
      message: expect.stringMatching(new RegExp(`^the folder ${folder} .* belongs to uid ${me}\\. .*${stranger}`)),
      remedy: expect.stringMatching(/^run it as the owner: `sudo -u \S+ nightscreen runs`.*sudo chown -R 4000111 /),
    });
  });
});

describe.skipIf(me !== 0)('as the administrator', () => {
  it("a look into another user's folder is refused before anything is written", async () => {
    await chown(folder, stranger, stranger);
    await rm(join(folder, 'pgdata'), { recursive: true });
    await expect(openDatabase({ folder }, 'nightscreen runs')).rejects.toMatchObject({
      code: 'folder_of_another_user',
      remedy: expect.stringContaining(`\`sudo -u '#${stranger}' nightscreen runs\``),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('files of another user inside are named before they are met, with what gives them back', async () => {
    await chown(join(folder, 'pgdata', 'base', '1'), stranger, stranger);
    await expect(openDatabase({ folder }, 'nightscreen rescreen')).rejects.toMatchObject({
      code: 'folder_of_another_user',
      message: expect.stringContaining(`pgdata/base/1 belongs to uid ${stranger}`),
      remedy: expect.stringContaining(`\`chown -R 0 ${folder}\``),
    });
    expect(await readdir(folder)).toEqual(['pgdata']);
  });

  it('a volume that the administrator has lent belongs to whoever made the database in it', async () => {
    await rm(join(folder, 'pgdata'), { recursive: true });
    await requireOwnFolder(folder, 'nightscreen rescreen', stranger);
    await mkdir(join(folder, 'pgdata'));
    await mkdir(join(folder, 'lost+found'));
    await chown(join(folder, 'pgdata'), stranger, stranger);
    await requireOwnFolder(folder, 'nightscreen rescreen', stranger);
    await expect(requireOwnFolder(folder, 'nightscreen runs')).rejects.toThrow(`belongs to uid ${stranger}`);
  });
});

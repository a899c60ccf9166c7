import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundleProgram } from '../../helpers/cli-process.js';

it('a backup that a full disk cuts off leaves nothing, and what stood there stays', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-full-'));
  const path = join(folder, 'night.backup');
  await writeFile(path, 'the one before');
  const program = await bundleProgram(new URL('./write-backup-program.ts', import.meta.url));
  try {
    // In blocks of 512 bytes, for about 3 MB.
    for (const [blocks, isWhole] of [
      [1_000, false],
      [100_000, true],
    ] as const) {
      const words = ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, program.path, path, '600'];
      const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
      expect([status, stderr.includes('free disk space')]).toEqual(isWhole ? [0, false] : [1, true]);
      expect(await readdir(folder)).toEqual(['night.backup']);
      const content = await readFile(path);
      if (isWhole) expect(content.length).toBeGreaterThan(2_000_000);
      else expect(content.toString()).toBe('the one before');
    }
  } finally {
    await program.remove();
  }
});

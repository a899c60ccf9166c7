import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What is wrong with the reports of one site, and what tells them from those of another. */
export async function compareReports(calm: string, other: string): Promise<readonly string[]> {
  const [calmRuns, otherRuns] = await Promise.all([readdir(calm), readdir(other)]);
  if (calmRuns.length !== 1 || otherRuns.length !== 1) {
    return [`reports: ${calmRuns.join(', ')} became ${otherRuns.join(', ')}`];
  }
  const [calmFolder, otherFolder] = [join(calm, calmRuns[0] ?? ''), join(other, otherRuns[0] ?? '')];
  const broken = await findBroken(otherFolder);
  const changes = await Promise.all(
    [calmFolder, otherFolder].map((folder) => readFile(join(folder, 'changes.csv'), 'utf8')),
  );
  const isSame = blankOut(changes[0] ?? '') === blankOut(changes[1] ?? '');
  return [...broken, ...(isSame ? [] : ['reports: changes.csv tells of other changes'])];
}

// Names of runs, times, and the numbers of changes, each before the cell of its run.
const blankOut = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d-[a-z]+-\d+/g, 'RUN')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/,\d+,RUN\b/g, '');

async function findBroken(folder: string): Promise<readonly string[]> {
  const lines = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trim().split('\n');
  const broken: string[] = [];
  for (const line of lines) {
    const [digest = '', name = ''] = line.split(/\s+\*?/);
    const bytes = await readFile(join(folder, name)).catch(() => Buffer.alloc(0));
    if (createHash('sha256').update(bytes).digest('hex') !== digest) broken.push(`reports: ${name} is broken`);
  }
  return broken;
}

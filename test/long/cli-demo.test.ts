import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/cli-process.js';

test('the demo finds exactly the expected changes and leaves both reports', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nightscreen-demo-'));
  try {
    const { exitCode, stdout } = await runCli(['demo', '--json'], { folder });
    const document = JSON.parse(stdout);
    expect(document.comparison).toMatchObject({ missing: [], unexpected: [] });
    expect(exitCode).toBe(0);
    expect(document.reports).toHaveLength(2);
    for (const report of document.reports) expect(existsSync(join(report, 'report.html'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

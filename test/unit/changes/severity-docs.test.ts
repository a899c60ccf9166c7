import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { changeSettingsSchema } from '../../../src/changes/settings.js';
import { severityRules } from '../../../src/changes/severity-rules.js';

const page = readFileSync(new URL('../../../docs/severity.md', import.meta.url), 'utf8');
const cells = (heading: string) =>
  page
    .slice(page.indexOf(heading))
    .split('\n\n', 1)
    .join()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()));

it('the documented table of severities is the one that judges', () => {
  expect(cells('| severity | rule |').map(([, severity, rule, when]) => [severity, rule, when])).toEqual(
    severityRules.map(({ severity, rule, when }) => [severity, `\`${rule}\``, when]),
  );
});

it('the documented families of topics are the default ones', () => {
  const { topics } = changeSettingsSchema.parse({});
  expect(cells('| family | topics |').map(([, family, listed]) => [family, listed])).toEqual(
    Object.entries(topics).map(([family, listed]) => [`\`${family}\``, listed.map((one) => `\`${one}\``).join(', ')]),
  );
});

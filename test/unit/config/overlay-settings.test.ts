import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { overlaySettings } from '../../../src/config/load-config.js';
import { configSchema } from '../../../src/config/schema.js';

const overlay = async (settings: object, text: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-overlay-'));
  await writeFile(join(folder, 'other.yaml'), text);
  return overlaySettings({ ...configSchema.parse(settings), organisation: 'default' }, folder, 'other.yaml');
};

it('what a partial file does not name stays as it is in force; groups are merged and lists replaced', async () => {
  const inForce = {
    changes: {
      scoreStep: 0.05,
      severities: { pep_hit_gained: 'high' },
      topics: { sanction: ['sanction', 'debarment'] },
    },
    rosters: [{ name: 'retail', csv: { path: 'a.csv', delimiter: 'tab' } }],
  };
  const other = await overlay(
    inForce,
    'changes: { severities: { hit_lost: low }, topics: { sanction: [sanction] } }\n',
  );
  expect(other.changes).toMatchObject({ scoreStep: 0.05, severities: { pep_hit_gained: 'high', hit_lost: 'low' } });
  expect(other.changes.topics.sanction).toEqual(['sanction']);
  expect(other.rosters).toEqual(configSchema.parse(inForce).rosters);
});

it('a mistake in the file is named with line and column', async () => {
  await expect(overlay({}, 'changes:\n  scoreStp: 0.1\n')).rejects.toThrow(/other\.yaml:2:3: changes\.scoreStp/);
});

it('a part that is only valid together with the settings in force is taken, and refused without them with its line', async () => {
  const part = 'screening:\n  cadence: { low: 30d }\n';
  const reason = 'policy 12.3';
  const other = await overlay({ screening: { cadence: { low: '7d', reason } } }, part);
  expect(other.screening.cadence).toEqual({ low: '30d', reason });
  await expect(overlay({}, part)).rejects.toThrow(
    /other\.yaml:2:19: screening\.cadence\.low: is missing: .*screening\.cadence\.reason/,
  );
  await expect(overlay({}, 'changes:\n  scoreStep: 2\n')).rejects.toThrow(
    /other\.yaml:2:14: changes\.scoreStep: must be at most 1/,
  );
});

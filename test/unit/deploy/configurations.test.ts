import { expect, test } from 'vitest';
import { z } from 'zod';
import { configSchema } from '../../../src/config/schema.js';
import { readShippedYaml } from '../../helpers/shipped-files.js';

const allows = { '/data/': ['compose', 'kubernetes/base'], '/var/lib/nightscreen/': ['systemd'] };

test.each(
  Object.entries(allows).flatMap(([writable, folders]) => folders.map((folder) => [folder, writable] as const)),
)('deploy/%s/nightscreen.config.yaml is a configuration that writes below %s only', (folder, writable) => {
  const given: unknown = readShippedYaml(`deploy/${folder}/nightscreen.config.yaml`);
  const { reports, watchdog, metrics, database } = configSchema.parse(given);
  const usesFolder = folder === 'systemd' ? [database.folder] : [];
  const written = [reports.dir, watchdog.noteFile, ...usesFolder, ...(metrics.textfile ? [metrics.textfile] : [])];
  expect(written.filter((path) => !path.startsWith(writable))).toEqual([]);
});

test('every service of the compose file that is ours has a read-only root and time to stop', () => {
  const ours = z.looseObject({
    read_only: z.literal(true),
    stop_grace_period: z.literal('20s'),
    cap_drop: z.tuple([z.literal('ALL')]),
    volumes: z.array(z.string()),
  });
  const compose = z
    .object({
      services: z.object({ sandbox: ours, nightscreen: ours, postgres: z.looseObject({}), mail: z.looseObject({}) }),
      volumes: z.record(z.string(), z.unknown()),
    })
    .parse(readShippedYaml('deploy/compose/compose.yaml'));
  const { sandbox, nightscreen } = compose.services;
  const mounted = [...sandbox.volumes, ...nightscreen.volumes].map((volume) => volume.split(':')[0]);
  expect(mounted.filter((name) => !Object.keys(compose.volumes).includes(name ?? ''))).toEqual([]);
});

import { expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../../src/config/load-config.js';
import { readShipped, readShippedYaml, root } from '../../helpers/shipped-files.js';

const allows = { '/data/': ['compose', 'kubernetes/base'], '/var/lib/nightscreen/': ['systemd'] };

test.each(
  Object.entries(allows).flatMap(([writable, folders]) => folders.map((folder) => [folder, writable] as const)),
)('deploy/%s/nightscreen.config.yaml is a configuration that writes below %s only', (folder, writable) => {
  const file = `deploy/${folder}/nightscreen.config.yaml`;
  const { reports, database } = loadConfig({ environment: {}, folder: root, file }).settings;
  const usesFolder = folder === 'systemd' ? [database.folder] : [];
  const written = [reports.dir, ...usesFolder];
  expect(written.filter((path) => !path.startsWith(writable))).toEqual([]);
});

test('every service of the compose file that is ours has a read-only root, time to stop and no core files', () => {
  const ours = z.looseObject({
    read_only: z.literal(true),
    stop_grace_period: z.literal('20s'),
    cap_drop: z.tuple([z.literal('ALL')]),
    ulimits: z.object({ core: z.literal(0) }),
    volumes: z.array(z.string()),
  });
  const compose = z
    .object({
      services: z.object({ sandbox: ours, nightscreen: ours, worker: ours }),
      volumes: z.record(z.string(), z.unknown()),
    })
    .parse(readShippedYaml('deploy/compose/compose.yaml'));
  const mounted = Object.values(compose.services).flatMap(({ volumes }) =>
    volumes.map((volume) => volume.split(':')[0]),
  );
  expect(mounted.filter((name) => !Object.keys(compose.volumes).includes(name ?? ''))).toEqual([]);
});

test('what the scheduler of the compose file needs starts with the machine as it does', () => {
  const { services } = z
    .object({ services: z.record(z.string(), z.looseObject({ restart: z.string().optional() })) })
    .parse(readShippedYaml('deploy/compose/compose.yaml'));
  expect(Object.entries(services).map(([name, { restart }]) => [name, restart])).toEqual(
    ['sandbox', 'mail', 'postgres', 'nightscreen', 'worker'].map((name) => [name, 'unless-stopped']),
  );
});

test('image and manifests are labelled with the version of the program', () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readShipped('package.json')));
  expect(readShipped('Dockerfile')).toContain(`org.opencontainers.image.version="${version}"`);
  expect(readShipped('deploy/kubernetes/pod/kustomization.yaml')).toContain(`newTag: ${version} `);
});

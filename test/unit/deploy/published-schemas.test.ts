import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { Deployment } from 'kubernetes-models/apps/v1';
import { CronJob } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PersistentVolumeClaim, Secret } from 'kubernetes-models/v1';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { listShipped, readCronJobs, readDocuments, readShipped, root } from '../../helpers/shipped-files.js';

const models = [CronJob, Deployment, NetworkPolicy, PersistentVolumeClaim, Secret];
const headSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
type Manifest = z.output<typeof headSchema>;

const jobFiles = ['base/watchdog.yaml', 'base/shell.yaml'];
const manifests = [
  ...jobFiles.flatMap(readCronJobs),
  ...listShipped('deploy/kubernetes')
    .filter((path) => !/\/(kustomization|nightscreen\.config)\.yaml$|\/pod\//.test(path))
    .filter((path) => !jobFiles.some((file) => path.endsWith(file)))
    .flatMap(readDocuments),
].map((document) => headSchema.parse(document));

/** What the schema of its kind says against a manifest; null when nothing. */
function findMistake({ apiVersion, kind }: Manifest, manifest: unknown): string | null {
  const model = models.find((each) => each.kind === kind && each.apiVersion === apiVersion);
  if (!model) return `nobody knows ${apiVersion} ${kind}`;
  try {
    const made: { validate(): void } = Reflect.construct(model, [manifest]);
    made.validate();
    return null;
  } catch (error) {
    return String(error);
  }
}

/** The paths of all keys below a value. */
function listPaths(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => [[key], ...listPaths(inner).map((path) => [key, ...path])]);
}

function replaceAt(value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((each, index) => (index === key ? replaceAt(each, rest, by) : each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name === key ? replaceAt(each, rest, by) : each]),
  );
}

/** Keys that the schema does not know: of these alone it takes a value that is of no type. */
const listUnknown = (manifest: Manifest): string[] =>
  listPaths(manifest)
    .filter((path) => !['apiVersion', 'kind'].includes(String(path[0])))
    .filter((path) => findMistake(manifest, replaceAt(manifest, path, Symbol('of no type'))) === null)
    .map((path) => path.join('.'));

describe('the schemas that Kubernetes publishes', () => {
  test.each(manifests.map((manifest) => [manifest.kind, manifest.metadata.name, manifest] as const))(
    'take the %s %s, and know all that it says',
    (_kind, _name, manifest) => {
      expect([findMistake(manifest, manifest), listUnknown(manifest)]).toEqual([null, []]);
    },
  );

  test('would find what is misspelt or of another kind', () => {
    const [job] = manifests;
    const at = ['spec', 'jobTemplate', 'spec', 'template', 'spec', 'containers', 0, 'resources', 'limits', 'memory'];
    const wrong = headSchema.parse(replaceAt(job, at, '1 gigabyte'));
    expect(findMistake(wrong, wrong)).toContain('resources/limits/memory');
    const { spec } = z.object({ spec: z.looseObject({}) }).parse(job);
    const misspelt = headSchema.parse({ ...job, spec: { ...spec, concurencyPolicy: 'Forbid' } });
    expect([findMistake(misspelt, misspelt), listUnknown(misspelt)]).toEqual([null, ['spec.concurencyPolicy']]);
  });
});

describe('the schema of compose files', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'nightscreen-compose-'));
  });

  const resultsSchema = z.array(
    z.object({ messages: z.array(z.object({ rule: z.string(), type: z.string(), message: z.string() })) }),
  );
  // Its warnings are about style.
  const listErrors = (path: string): string[] =>
    resultsSchema
      .parse(new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] }).lintFiles([path], false))
      .flatMap(({ messages }) => messages)
      .filter(({ type }) => type === 'error')
      .map(({ rule, message }) => `${rule}: ${message}`);

  test('takes ours, and would find what is misspelt', () => {
    const path = 'deploy/compose/compose.yaml';
    const misspelt = join(folder, 'compose.yaml');
    writeFileSync(misspelt, readShipped(path).replace('    restart: ', '    restrat: '));
    expect(listErrors(join(root, path))).toEqual([]);
    expect(listErrors(misspelt)).toEqual([expect.stringContaining('/services/sandbox')]);
  });
});

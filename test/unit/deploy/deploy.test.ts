import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { judgeSpace } from '../../../src/cli/doctor/check-capacity.js';
import { createProgram } from '../../../src/cli/program.js';
import { configSchema } from '../../../src/config/schema.js';
import { variables } from '../../../src/config/variables.js';
import { findProgram } from '../../helpers/find-program.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const list = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
const readYaml = (path: string): unknown => parse(read(path), { merge: true });

const program = createProgram(async () => {}, { writeOut: () => {}, writeErr: () => {} });

/** What is wrong in the words of a command: a name or an option that the program does not know. */
function findUnknown(words: readonly string[]): string | null {
  let command: Command = program;
  for (const word of words) {
    const inner = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (inner) command = inner;
    else if (word.startsWith('--')) {
      const [name = ''] = word.split('=');
      const isKnown = [...command.options, ...program.options].some(({ long }) => long === name);
      if (!isKnown && name !== '--help') return `${command.name()} ${name}`;
    } else if (command.commands.length > 0 && command.registeredArguments.length === 0 && /^[a-z]/.test(word)) {
      return `${command.name()} ${word}`;
    }
  }
  return null;
}

describe('the commands that are named', () => {
  test('in deploy/, README and docs are ones that the program has, with the options it has', () => {
    const files = [...list('deploy'), ...list('docs').filter((name) => name.endsWith('.md')), 'README.md'];
    const named = files
      .filter((name) => /\.(md|service|yaml)$/.test(name))
      .flatMap((name) =>
        [
          ...read(name).matchAll(
            /(?:(?<=`)|(?<=npx )|(?<=\/))nightscreen ((?:[a-z][\w-]*|--[\w-]+)(?: [^\s`&|;>]+)*)/g,
          ),
        ].map(([, words = '']) => ({ name, words: words.split(' ') })),
      );
    const ofPods = list('deploy/kubernetes').flatMap((name) =>
      name.endsWith('.yaml')
        ? [...read(name).matchAll(/args: \[(.*)\]/g)].map(([, words = '']) => ({
            name,
            words: words.replaceAll('"', '').split(', '),
          }))
        : [],
    );
    expect(named.length).toBeGreaterThan(40);
    expect(ofPods.length).toBeGreaterThan(2);
    const unknown = [...named, ...ofPods].flatMap(({ name, words }) => {
      const found = findUnknown(words);
      return found === null ? [] : [`${name}: ${found}`];
    });
    expect(unknown).toEqual([]);
  });
});

const environment = z.array(z.strictObject({ name: z.string(), value: z.string() }));
const podSchema = z.strictObject({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  spec: z.strictObject({
    restartPolicy: z.literal('Never').optional(),
    terminationGracePeriodSeconds: z.number().min(10),
    automountServiceAccountToken: z.literal(false),
    securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000), fsGroup: z.literal(1000) }),
    containers: z
      .array(
        z.strictObject({
          name: z.literal('nightscreen'),
          image: z.string(),
          args: z.array(z.string()),
          env: environment,
          ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).optional(),
          livenessProbe: z.object({ httpGet: z.object({ path: z.literal('/healthz') }) }).optional(),
          readinessProbe: z.object({ httpGet: z.object({ path: z.literal('/readyz') }) }).optional(),
          startupProbe: z.object({}).optional(),
          resources: z.object({ requests: z.object({}), limits: z.object({ memory: z.string() }) }),
          securityContext: z.strictObject({
            readOnlyRootFilesystem: z.literal(true),
            allowPrivilegeEscalation: z.literal(false),
            capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
          }),
          volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
        }),
      )
      .length(1),
    volumes: z.array(z.object({ name: z.string() }).loose()),
  }),
});
const cronJobSchema = z.object({
  spec: z.object({
    timeZone: z.string(),
    concurrencyPolicy: z.literal('Forbid'),
    jobTemplate: z.object({
      spec: z.strictObject({
        activeDeadlineSeconds: z.number(),
        backoffLimit: z.number(),
        podFailurePolicy: z.object({
          rules: z.tuple([
            z.object({
              action: z.literal('Ignore'),
              onPodConditions: z.tuple([
                z.strictObject({ type: z.literal('DisruptionTarget'), status: z.literal('True') }),
              ]),
            }),
            z.object({
              action: z.literal('FailJob'),
              onExitCodes: z.object({ values: z.tuple([z.literal(2), z.literal(3)]) }),
            }),
            z.object({
              action: z.literal('Count'),
              onExitCodes: z.object({ values: z.tuple([z.literal(1), z.literal(4)]) }),
            }),
          ]),
        }),
        template: podSchema,
      }),
    }),
  }),
});
const deploymentSchema = z.object({
  spec: z.object({ replicas: z.literal(1), strategy: z.object({ type: z.literal('Recreate') }), template: podSchema }),
});

function checkPod({ spec }: z.output<typeof podSchema>): void {
  const volumes = spec.volumes.map(({ name }) => name);
  for (const { env, volumeMounts } of spec.containers) {
    expect(volumeMounts.map(({ name }) => name).toSorted()).toEqual(volumes.toSorted());
    const known = variables.flatMap(({ name, isSecret }) => (isSecret ? [`${name}_FILE`] : [name]));
    expect(env.map(({ name }) => name).filter((name) => ![...known, 'CORE_DATABASE_URL_FILE'].includes(name))).toEqual(
      [],
    );
    const keys = z
      .object({ stringData: z.record(z.string(), z.string()) })
      .parse(readYaml('deploy/kubernetes/base/secret.example.yaml'));
    for (const { name, value } of env) {
      if (name.endsWith('_FILE')) expect(Object.keys(keys.stringData)).toContain(value.split('/').at(-1));
    }
  }
}

describe('the manifests for Kubernetes', () => {
  test.each(['rescreen', 'sweep'])('cronjob %s retries by our exit codes, one at a time, without rights', (name) => {
    const job = cronJobSchema.parse(readYaml(`deploy/kubernetes/cronjob/${name}.yaml`));
    expect(job.spec.jobTemplate.spec.template.spec.restartPolicy).toBe('Never');
    checkPod(job.spec.jobTemplate.spec.template);
  });

  test('the scheduler has probes on the port that it serves', () => {
    const { spec } = deploymentSchema.parse(readYaml('deploy/kubernetes/scheduler/deployment.yaml'));
    checkPod(spec.template);
    expect(spec.template.spec.containers[0]?.args).toContain(
      `:${spec.template.spec.containers[0]?.ports?.[0]?.containerPort}`,
    );
    expect(spec.template.spec.containers[0]).toHaveProperty('readinessProbe.httpGet.path', '/readyz');
  });
});

test.each(['deploy/kubernetes/base/nightscreen.config.yaml', 'deploy/compose/nightscreen.config.yaml'])(
  '%s is a configuration',
  (path) => {
    expect(configSchema.safeParse(readYaml(path)).error).toBeUndefined();
  },
);

test('every service of the compose file that is ours has a read-only root and time to stop', () => {
  const ours = z.looseObject({
    read_only: z.literal(true),
    stop_grace_period: z.literal('20s'),
    cap_drop: z.tuple([z.literal('ALL')]),
    command: z.array(z.string()),
    volumes: z.array(z.string()),
  });
  const compose = z
    .object({
      services: z.object({ sandbox: ours, nightscreen: ours, postgres: z.looseObject({}), mail: z.looseObject({}) }),
      volumes: z.record(z.string(), z.unknown()),
    })
    .parse(readYaml('deploy/compose/compose.yaml'));
  const { sandbox, nightscreen } = compose.services;
  const mounted = [...sandbox.volumes, ...nightscreen.volumes].map((volume) => volume.split(':')[0]);
  expect(mounted.filter((name) => !Object.keys(compose.volumes).includes(name ?? ''))).toEqual([]);
  expect([findUnknown(sandbox.command), findUnknown(nightscreen.command)]).toEqual([null, null]);
});

test.skipIf(findProgram('systemd-analyze') === null)(
  'systemd takes the units as they are, but for the path of the program',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'nightscreen-units-'));
    const units = list('deploy/systemd').map((name) => {
      const copy = join(folder, name.split('/').at(-1) ?? '');
      writeFileSync(copy, read(name).replaceAll('/usr/local/bin/nightscreen', process.execPath));
      return copy;
    });
    const output = execFileSync('systemd-analyze', ['verify', ...units], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    rmSync(folder, { recursive: true });
    expect([units.length, output]).toEqual([5, '']);
  },
);

test('a disk that is nearly full is told before the night', () => {
  expect([100, 1_500, 9_000].map((megabytes) => judgeSpace('reports space', '/data', megabytes).state)).toEqual([
    'fail',
    'warn',
    'ok',
  ]);
});

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { variables } from '../../../src/config/variables.js';
import { findProgram } from '../../helpers/find-program.js';
import { readShipped, readShippedYaml, root } from '../../helpers/shipped-files.js';
import { readCronJobs } from '../../helpers/shipped-manifests.js';

const kubernetes = 'deploy/kubernetes';
const labelsSchema = z.strictObject({
  'app.kubernetes.io/name': z.literal('nightscreen'),
  'app.kubernetes.io/component': z.string(),
});
const podSchema = z.strictObject({
  metadata: z.strictObject({ labels: labelsSchema }),
  spec: z.strictObject({
    restartPolicy: z.literal('Never').optional(),
    terminationGracePeriodSeconds: z.number().min(10),
    automountServiceAccountToken: z.literal(false),
    affinity: z.object({ podAffinity: z.object({}) }).optional(),
    securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000), fsGroup: z.literal(1000) }),
    containers: z.tuple([
      z.strictObject({
        name: z.literal('nightscreen'),
        image: z.string(),
        args: z.array(z.string()).optional(),
        command: z.array(z.string()).optional(),
        env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
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
    ]),
    volumes: z.array(
      z.object({ name: z.string(), persistentVolumeClaim: z.object({ claimName: z.string() }).optional() }).loose(),
    ),
  }),
});
const cronJobSchema = z.object({
  metadata: z.strictObject({ name: z.string(), labels: labelsSchema }),
  spec: z.strictObject({
    schedule: z.string(),
    timeZone: z.literal('Etc/UTC'),
    suspend: z.boolean().default(false),
    concurrencyPolicy: z.literal('Forbid'),
    startingDeadlineSeconds: z.number().min(60),
    successfulJobsHistoryLimit: z.number(),
    failedJobsHistoryLimit: z.number().min(3),
    jobTemplate: z.strictObject({
      metadata: z.strictObject({ labels: labelsSchema }),
      spec: z.strictObject({
        activeDeadlineSeconds: z.number(),
        // Started once more, `--if-due` would find nothing due, and a night that failed would look well.
        backoffLimit: z.literal(0),
        podFailurePolicy: z.object({
          rules: z.tuple([
            z.object({
              action: z.literal('Ignore'),
              onPodConditions: z.tuple([
                z.strictObject({ type: z.literal('DisruptionTarget'), status: z.literal('True') }),
              ]),
            }),
            // After the other: what a drained node stops ends with 4.
            z.object({
              action: z.literal('FailJob'),
              onExitCodes: z.strictObject({
                containerName: z.literal('nightscreen'),
                operator: z.literal('In'),
                values: z.array(z.number()),
              }),
            }),
          ]),
        }),
        template: podSchema,
      }),
    }),
  }),
});
const deploymentSchema = z.object({
  metadata: z.object({ labels: labelsSchema }),
  spec: z.object({
    replicas: z.literal(1),
    strategy: z.object({ type: z.literal('Recreate') }),
    selector: z.object({ matchLabels: labelsSchema }),
    template: podSchema,
  }),
});

const cronJobs = ['cronjob/jobs.yaml', 'base/watchdog.yaml', 'base/shell.yaml'].flatMap((path) =>
  readCronJobs(path).map((job) => cronJobSchema.parse(job)),
);
const findCronJob = (name: string) => cronJobs.find(({ metadata }) => metadata.name === `nightscreen-${name}`)?.spec;
const deployment = deploymentSchema.parse(readShippedYaml(`${kubernetes}/scheduler/deployment.yaml`));

function checkPod({ spec }: z.output<typeof podSchema>): void {
  const [{ env, volumeMounts }] = spec.containers;
  expect(volumeMounts.map(({ name }) => name).toSorted()).toEqual(spec.volumes.map(({ name }) => name).toSorted());
  const known = variables.flatMap(({ name, isSecret }) => (isSecret ? [`${name}_FILE`] : [name]));
  expect(env.map(({ name }) => name).filter((name) => ![...known, 'CORE_DATABASE_URL_FILE'].includes(name))).toEqual(
    [],
  );
  const keys = z
    .object({ stringData: z.record(z.string(), z.string()) })
    .parse(readShippedYaml(`${kubernetes}/base/secret.example.yaml`));
  for (const { name, value } of env) {
    if (name.endsWith('_FILE')) expect(Object.keys(keys.stringData)).toContain(value.split('/').at(-1));
  }
}

test('there are CronJobs for the jobs, for mail that waits, for the watchdog and to type in', () => {
  expect(
    cronJobs.map(({ metadata, spec }) => {
      const [{ args, command }] = spec.jobTemplate.spec.template.spec.containers;
      return [metadata.name, spec.schedule, spec.suspend, args?.join(' ') ?? command?.at(-1)];
    }),
  ).toEqual([
    ['nightscreen-sweep', '*/10 * * * *', false, 'schedule run sweep --if-due'],
    ['nightscreen-rescreen', '*/10 * * * *', false, 'schedule run rescreen --if-due'],
    ['nightscreen-report', '*/10 * * * *', false, 'schedule run report --if-due'],
    ['nightscreen-mail', '*/10 * * * *', false, 'schedule run mail --if-due'],
    ['nightscreen-watchdog', '*/15 * * * *', false, 'watchdog'],
    ['nightscreen-shell', '0 0 1 1 *', true, expect.stringContaining('sleep 43200')],
  ]);
});

describe.each(cronJobs)('the CronJob $metadata.name', ({ metadata, spec }) => {
  const { template, activeDeadlineSeconds } = spec.jobTemplate.spec;

  test('is retried by its next start, one at a time, without rights', () => {
    expect(template.spec.restartPolicy).toBe('Never');
    expect(metadata.name).toBe(`nightscreen-${template.metadata.labels['app.kubernetes.io/component']}`);
    expect([metadata, spec.jobTemplate.metadata].map(({ labels }) => labels)).toEqual(
      Array(2).fill(template.metadata.labels),
    );
    expect(activeDeadlineSeconds).toBeGreaterThanOrEqual(600);
    checkPod(template);
  });

  test('shares the volume of the reports on one node, unless it is the watchdog', () => {
    const claims = template.spec.volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
    const isWatchdog = metadata.name.endsWith('watchdog');
    expect(claims).toEqual([isWatchdog ? 'nightscreen-watchdog' : 'nightscreen']);
    expect(template.spec.affinity === undefined).toBe(isWatchdog);
  });
});

test('a Job whose program says that it failed is tried by no second pod, which would find nothing due and end with 0', () => {
  const [section = ''] = /^## Exit codes$[\s\S]*?(?=^## )/m.exec(readShipped('docs/operations.md')) ?? [];
  const codes = [...section.matchAll(/^\| (\d) \|/gm)].map(([, code]) => Number(code)).filter((code) => code > 0);
  expect(codes.length).toBeGreaterThan(0);
  for (const { spec } of cronJobs) {
    expect(spec.jobTemplate.spec.podFailurePolicy.rules[1].onExitCodes.values).toEqual(codes);
  }
});

test('a rescreening may take a night, and the scheduler is the only pod that its Deployment takes for its own', () => {
  expect(findCronJob('rescreen')?.jobTemplate.spec.activeDeadlineSeconds).toBe(72_000);
  expect(deployment.spec.selector.matchLabels).toEqual(deployment.spec.template.metadata.labels);
  expect(cronJobs.map(({ metadata }) => metadata.labels)).not.toContainEqual(deployment.metadata.labels);
});

test('the scheduler has probes on the port that it serves', () => {
  const { template } = deployment.spec;
  checkPod(template);
  const [container] = template.spec.containers;
  expect(container.args).toContain(`:${container.ports?.[0]?.containerPort}`);
  expect(container).toHaveProperty('readinessProbe.httpGet.path', '/readyz');
});

test.skipIf(findProgram('kubectl') === null)('kubectl makes of the CronJobs what these tests look at', () => {
  const made = execFileSync('kubectl', ['kustomize', join(root, kubernetes, 'cronjob')], { encoding: 'utf8' });
  const documents = parseAllDocuments(made.replaceAll(/nightscreen-[0-9a-z]{10}$/gm, 'nightscreen'));
  const jobs = documents.flatMap((document) => cronJobSchema.safeParse(document.toJS()).data ?? []);
  expect(jobs.map(toComparable).toSorted(byName)).toEqual(
    cronJobs.map((job) => toComparable({ ...job, image: 'registry.example/nightscreen:0.1.0' })).toSorted(byName),
  );
});

type CronJob = z.output<typeof cronJobSchema>;

const byName = (one: CronJob, other: CronJob): number => one.metadata.name.localeCompare(other.metadata.name);

/** Volumes in the order of their names, and the image that `pod/kustomization.yaml` puts in. */
function toComparable({ image, ...job }: CronJob & { image?: string }): CronJob {
  const copy = structuredClone(job);
  const { spec } = copy.spec.jobTemplate.spec.template;
  spec.volumes.sort((one, other) => one.name.localeCompare(other.name));
  if (image !== undefined) spec.containers[0].image = image;
  return copy;
}

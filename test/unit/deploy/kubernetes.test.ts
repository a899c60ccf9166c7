import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { variables } from '../../../src/config/environment.js';
import { readCronJobs, readShippedYaml } from '../../helpers/shipped-files.js';

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
    // The owner of an embedded database is known by it; a worker has the name of its pod.
    hostname: z.enum(['nightscreen', 'nightscreen-job']).optional(),
    topologySpreadConstraints: z.array(z.object({})).optional(),
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
    startingDeadlineSeconds: z.number().min(60).max(600),
    successfulJobsHistoryLimit: z.number(),
    failedJobsHistoryLimit: z.number().min(3),
    jobTemplate: z.strictObject({
      metadata: z.strictObject({ labels: labelsSchema }),
      spec: z.strictObject({
        activeDeadlineSeconds: z.number(),
        // A watchdog that is started once more would hide its alarm.
        backoffLimit: z.literal(0),
        podFailurePolicy: z.object({
          rules: z.tuple([
            z.object({
              action: z.literal('Ignore'),
              onPodConditions: z.tuple([
                z.strictObject({ type: z.literal('DisruptionTarget'), status: z.literal('True') }),
              ]),
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
    replicas: z.number(),
    strategy: z.object({ type: z.literal('Recreate') }),
    selector: z.object({ matchLabels: labelsSchema }),
    template: podSchema,
  }),
});

const cronJobs = ['base/watchdog.yaml', 'base/shell.yaml'].flatMap((path) =>
  readCronJobs(path).map((job) => cronJobSchema.parse(job)),
);
const readDeployment = (name: string) =>
  deploymentSchema.parse(readShippedYaml(`${kubernetes}/${name}/deployment.yaml`));
const deployment = readDeployment('scheduler');
const workers = readDeployment('worker');

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

test('there are CronJobs for the watchdog and to type in, and none for what the scheduler starts', () => {
  expect(
    cronJobs.map(({ metadata, spec }) => {
      const [{ args, command }] = spec.jobTemplate.spec.template.spec.containers;
      return [metadata.name, spec.schedule, spec.suspend, args?.join(' ') ?? command?.at(-1)];
    }),
  ).toEqual([
    ['nightscreen-watchdog', '*/15 * * * *', false, 'schedule watchdog'],
    ['nightscreen-shell', '0 0 1 1 *', true, expect.stringContaining('sleep 43200')],
  ]);
});

describe.each(cronJobs)('the CronJob $metadata.name', ({ metadata, spec }) => {
  const { template, activeDeadlineSeconds } = spec.jobTemplate.spec;

  test('is tried by one pod at a time, without rights', () => {
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

test('each Deployment takes its own pods only', () => {
  const labels = [deployment, workers].map(({ metadata, spec }) => {
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
    return metadata.labels['app.kubernetes.io/component'];
  });
  expect(labels).toEqual(['scheduler', 'worker']);
  for (const { metadata } of cronJobs) expect(labels).not.toContain(metadata.labels['app.kubernetes.io/component']);
});

test.each([deployment, workers])('a Deployment has probes on the port that it serves', ({ spec: { template } }) => {
  checkPod(template);
  const [container] = template.spec.containers;
  expect(container.args).toContain(`:${container.ports?.[0]?.containerPort}`);
  expect(container).toHaveProperty('readinessProbe.httpGet.path', '/readyz');
});

test('there is one scheduler, and two workers without its volume, with the name and the secrets that they need', () => {
  expect([deployment, workers].map(({ spec }) => spec.replicas)).toEqual([1, 2]);
  const { spec } = workers.spec.template;
  expect([spec.hostname, spec.terminationGracePeriodSeconds]).toEqual([undefined, 45]);
  expect(spec.volumes.filter(({ persistentVolumeClaim }) => persistentVolumeClaim)).toEqual([]);
  const secrets = z
    .object({ secret: z.object({ items: z.array(z.object({ key: z.string(), path: z.string() })) }) })
    .parse(spec.volumes.find(({ name }) => name === 'secrets'));
  const named = spec.containers[0].env.flatMap(({ name, value }) =>
    name.endsWith('_FILE') ? [value.split('/').at(-1)] : [],
  );
  expect(secrets.secret.items.map(({ path }) => path)).toEqual(named);
  const component = z.object({ components: z.array(z.string()) });
  const { components } = component.parse(readShippedYaml(`${kubernetes}/scheduler/kustomization.yaml`));
  // Without `fleet: true` in the shipped configuration they would end at once.
  expect(components).toEqual(['../pod']);
});

test('only the Prometheus of the monitoring namespace reaches a pod, and a pod reaches named ports only', () => {
  const port = z.strictObject({ port: z.number(), protocol: z.enum(['TCP', 'UDP']) });
  const peer = z.strictObject({
    namespaceSelector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
    podSelector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
  });
  const { spec } = z
    .object({
      spec: z.strictObject({
        podSelector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
        policyTypes: z.tuple([z.literal('Ingress'), z.literal('Egress')]),
        ingress: z.tuple([z.strictObject({ from: z.tuple([peer]), ports: z.tuple([port]) })]),
        egress: z.array(z.strictObject({ to: z.tuple([peer]).optional(), ports: z.array(port).min(1) })),
      }),
    })
    .parse(readShippedYaml(`${kubernetes}/base/network-policy.yaml`));
  expect(Object.entries(deployment.metadata.labels)).toEqual(
    expect.arrayContaining(Object.entries(spec.podSelector.matchLabels)),
  );
  expect(spec.ingress[0].ports[0].port).toBe(deployment.spec.template.spec.containers[0].ports?.[0]?.containerPort);
  expect(spec.egress.map(({ to, ports }) => [to !== undefined, ...ports.map((each) => each.port)])).toEqual([
    [true, 53, 53],
    [false, 5432],
    [false, 443],
    [false, 465, 587],
  ]);
});

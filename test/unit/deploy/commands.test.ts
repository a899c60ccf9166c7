import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createProgram } from '../../../src/cli/program.js';
import {
  commandNames,
  findRefusal,
  listShipped,
  readCronJobs,
  readDocuments,
  readShipped,
  readShippedYaml,
  readUnit,
  root,
  splitWords,
} from '../../helpers/shipped-files.js';

const program = await createProgram(async () => {}, { writeOut: () => {}, writeErr: () => {} });

/** What is wrong in the words of a command, which may be cut short: a name or an option that the program does not know. */
function findUnknown(words: readonly string[]): string | null {
  let command: Command = program;
  if (words[0] === 'help') return null;
  let isValue = false;
  for (const word of words) {
    const inner = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (isValue) isValue = false;
    else if (inner) command = inner;
    else if (word.startsWith('--')) {
      const [name = ''] = word.split('=');
      const option = [...command.options, ...program.options].find(({ long }) => long === name);
      if (!option && name !== '--help') return `${command.name()} ${name}`;
      isValue = option?.required === true && name === word;
    } else if (command.commands.length > 0 && command.registeredArguments.length === 0 && /^[a-z]/.test(word)) {
      return `${command.name()} ${word}`;
    }
  }
  return null;
}

test('every command that README, docs and deploy/ name is one that the program has, with the options it has', () => {
  const files = [...listShipped('deploy'), ...listShipped('docs').filter((name) => name.endsWith('.md')), 'README.md'];
  const named = files
    .filter((name) => /\.(md|service|yaml)$/.test(name))
    .flatMap((name) =>
      [
        ...readShipped(name).matchAll(
          /(?:^|(?<=`)|(?<=npx )|(?<=npx --no )|(?<=\/))nightscreen ((?:[a-z][\w-]*|--[\w-]+)(?: [^\s`&|;>]+)*)/gm,
        ),
      ].map(([, words = '']) => ({ name, words: words.split(' ') })),
    );
  expect(named.length).toBeGreaterThan(40);
  const unknown = named.flatMap(({ name, words }) => {
    const found = findUnknown(words);
    return found === null ? [] : [`${name}: ${found}`];
  });
  expect(unknown).toEqual([]);
});

test('each question of due diligence names commands that the program takes as they are typed', async () => {
  const rows = readShipped('docs/due-diligence.md').match(/^\| \d+ \|.*$/gm) ?? [];
  expect(rows).toHaveLength(20);
  for (const row of rows) {
    const [, , , commands = ''] = row.split(' | ');
    const typed = [...commands.matchAll(/`nightscreen ([^`]+)`/g)].map(([, words = '']) => words);
    expect(typed.length).toBeGreaterThan(0);
    for (const words of typed) expect(await findRefusal(splitWords(words))).toBeNull();
  }
});

test('units, pods and services of compose are started by commands that the program takes', async () => {
  const starts = listShipped('deploy/systemd')
    .filter((name) => name.endsWith('.service'))
    .flatMap((name) => readUnit(name).get('ExecStart') ?? []);
  const pod = z.object({
    spec: z.object({ containers: z.tuple([z.object({ args: z.array(z.string()).optional() })]) }),
  });
  const cronJob = z.object({ spec: z.object({ jobTemplate: z.object({ spec: z.object({ template: pod }) }) }) });
  const pods = [
    ...['base/watchdog.yaml', 'base/shell.yaml']
      .flatMap(readCronJobs)
      .map((job) => cronJob.parse(job).spec.jobTemplate.spec.template),
    ...['scheduler', 'worker'].map(
      (name) =>
        z
          .object({ spec: z.object({ template: pod }) })
          .parse(readShippedYaml(`deploy/kubernetes/${name}/deployment.yaml`)).spec.template,
    ),
  ];
  const words = [
    ...starts.map((line) => splitWords(line.replace(/^-?\/usr\/local\/bin\/nightscreen /, ''))),
    ...pods.flatMap(({ spec }) => (spec.containers[0].args === undefined ? [] : [spec.containers[0].args])),
    ...['sandbox', 'nightscreen', 'worker'].map((name) => compose.services[name]?.command ?? []),
  ];
  expect(words).toHaveLength(3 + 3 + 3);
  expect((await Promise.all(words.map(findRefusal))).filter((refusal) => refusal !== null)).toEqual([]);
});

const compose = z
  .object({ services: z.record(z.string(), z.looseObject({ command: z.array(z.string()).optional() })) })
  .parse(readShippedYaml('deploy/compose/compose.yaml'));

const threeInTheMorning =
  /^## At three in the morning$[\s\S]*?(?=^## )/m.exec(readShipped('docs/operations.md'))?.[0] ?? '';

/** What stands there to be typed: the lines of its shell blocks, and the code of its text that begins with the name of a program. */
function listTyped(text: string): string[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block.replaceAll('\\\n', ' ').split('\n'),
  );
  const outside = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
  const known = [...commandNames, 'nightscreen ', 'npx ', ...Object.keys(others).map((name) => `${name} `)];
  const inside = [...outside.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  return [
    ...blocks.filter((line) => /^\w/.test(line)),
    ...inside.filter((code) => known.some((name) => code === name || code.startsWith(`${name.trim()} `))),
  ];
}

const units = listShipped('deploy/systemd').map((name) => name.split('/').at(-1) ?? '');
const named = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }) });
const objects = listShipped('deploy/kubernetes')
  .filter((name) => !/\/(kustomization|nightscreen\.config)\.yaml$/.test(name))
  .flatMap(readDocuments)
  .map((document) => named.parse(document))
  .map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);

/** How a line that begins with another program is wrong: null where everything of ours that it names is there. */
const others: Record<string, (words: readonly string[], line: string) => Promise<string | null>> = {
  'nightscreen-as-service': async (words) => findRefusal(words[0] === '--without-key' ? words.slice(1) : words),
  'nightscreen-by-cron': async (words) => findRefusal(words),
  systemctl: async (words) => {
    const missing = words
      .filter((word) => word.startsWith('nightscreen') && !word.includes('*'))
      .filter((word) => !units.includes(word) && !units.includes(`${word}.service`));
    return missing.length === 0 ? null : `no unit ${missing.join(', ')}`;
  },
  kubectl: async (words) => {
    const at = words.indexOf('--');
    const inPod = at === -1 ? null : words.slice(at + 1);
    const about = words.slice(0, at === -1 ? undefined : at);
    const folder = about[about.indexOf('-k') + 1] ?? '';
    if (about.includes('-k') && !existsSync(join(root, folder, 'kustomization.yaml'))) return `no ${folder}`;
    const missing = about
      .flatMap((word, index) => {
        const [, kind, name] = /(?:^|=)(cronjob|deployment)\/(\S+)$/.exec(word) ?? [];
        return kind ? [`${kind}/${name}`] : word === 'cronjob' ? [`cronjob/${about[index + 1]}`] : [];
      })
      .filter((object) => !objects.includes(object));
    if (missing.length > 0) return `no ${missing.join(', ')}`;
    return inPod === null ? null : inPod[0] === 'nightscreen' ? findRefusal(inPod.slice(1)) : `not ours: ${inPod[0]}`;
  },
  docker: async (words) => {
    const [action, ...rest] = words;
    if (action === 'compose') {
      const [flag, file = '', verb, ...about] = rest;
      const [service = '', ...inService] = about.filter((word) => !['--rm', '--build', '--detach'].includes(word));
      if (flag !== '-f' || !existsSync(join(root, file))) return `no file ${file}`;
      if (service !== '' && !(service in compose.services)) return `no service ${service}`;
      return verb === 'run' ? findRefusal(inService) : null;
    }
    return action === 'run' ? findRefusal(rest.slice(rest.lastIndexOf('nightscreen') + 1)) : null;
  },
  install: async (words) => {
    // The key is the operator's own.
    const isFolder = words.includes('-d');
    const missing = isFolder ? [] : words.slice(2, -1).filter((word) => word !== 'api-key' && !isShipped(word));
    return missing.length === 0 ? null : `no ${missing.join(', ')}`;
  },
  ln: async (words) => (words[1]?.endsWith('/dist/src/cli/main.js') ? null : `no ${words[1]}`),
  npm: async () => null,
  useradd: async () => null,
  kill: async () => null,
};

const isShipped = (pattern: string): boolean =>
  pattern.includes('*')
    ? listShipped(pattern.slice(0, pattern.lastIndexOf('/'))).some((name) => name.endsWith(pattern.split('*')[1] ?? ''))
    : existsSync(join(root, pattern));

async function assess(line: string): Promise<string | null> {
  const [first = '', ...rest] = splitWords(line);
  const other = others[first];
  const found = other
    ? await other(rest, line)
    : await findRefusal(first === 'nightscreen' ? rest : first === 'npx' ? rest.slice(1) : [first, ...rest]);
  return found === null ? null : `${line}: ${found}`;
}

describe.each([
  ['docs/deployment.md', readShipped('docs/deployment.md'), 30],
  ['"At three in the morning"', threeInTheMorning, 30],
])('what %s says to type', (_name, text, least) => {
  test('exists, with its options, units, manifests and files', async () => {
    const typed = listTyped(text);
    expect(typed.length).toBeGreaterThanOrEqual(least);
    expect((await Promise.all(typed.map(assess))).filter((found) => found !== null)).toEqual([]);
  });
});

test('what is typed wrongly would be found', async () => {
  const wrong = [
    'runs lst',
    'nightscreen report --rn 1',
    'nightscreen-as-service run list',
    'systemctl stop nightscreen-jobs.timer',
    'kubectl scale deployment/nightscreen --replicas=0',
    'kubectl exec job/nightscreen-shell -- nightscreen roster',
    'kubectl apply -k deploy/kubernetes/jobs',
    'docker compose -f deploy/compose/compose.yaml run --rm scheduler runs',
    'docker run --rm nightscreen runs --list',
    'install -m 0644 deploy/systemd/nightscreen.conf /etc/nightscreen/',
  ];
  expect((await Promise.all(wrong.map(assess))).map((found) => found === null)).toEqual(wrong.map(() => false));
});

import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { listFiles, readMessages } from './read-imports.js';

/** Words that have a plain technical term; in identifiers, comments, messages and documents alike. */
const forbidden = new Set(
  `standing standings tell tells told teller tellers telling tellings untold workplace
    workplaces occasion occasions occasional dues outlast outlasts outlasted outlasting
    patience patient patiently impatient obstacle obstacles wish wishes wished bereft lookout
    lookouts weather seat seats seated crowd crowds crowded flood floods flooded`.split(/\s+/),
);

/** Published, stored or foreign names that hold one of the words. They go with the schema that replaces the stored ones. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // Fields of report.json and of `--json`: occasion of control searches and jobs, standing of discrepancies, caps and coverage.
  'docs/schemas/': ['occasion', 'standing'],
  'src/reports/': ['standing'],
  'src/vocabulary/': ['occasion', 'standing'],
  'src/runs/screening/': ['occasion', 'standing'],
  'src/cli/commands/coverage.ts': ['standing'],
  'src/cli/schedule/operate-schedule.ts': ['occasion'],
  'src/cli/watchdog.ts': ['told', 'toldAt', 'timesTold', 'not_told'],
  // A field of the event and log line `stage_finished`.
  'src/runs/app-context.ts': ['occasion'],
  'src/cli/progress.ts': ['occasion'],
  // A label of the metric `nightscreen_coverage_customers`.
  'src/metrics/': ['standing'],
  'docs/metrics.md': ['standing'],
  'deploy/': ['standing'],
  // The reason of rows with an active flag that no reading knows.
  'docs/rosters.md': ['unknown_standing'],
  'src/vocabulary': ['unknown_standing'],
  'src/roster/': ['unknown_standing', 'patient'],

  // The option of `createPace`, and the path of the sandbox.
  'src/client/': ['tell'],
  'docs/client.md': ['tell'],
  'src/sandbox/': ['weather'],
  'docs/sandbox.md': ['weather'],
  // Tables, views, columns and codes of the database.
  'docs/internals.md': ['roster_standing'],
  'src/store/': `standing customer_standing party_standing roster_standing occasion obstacle told_at
    times_told toldAt`.split(/\s+/),
};

/** Former words of the field's terms, and others that have a plain one, in what users read: messages, help, reports and mail. */
const retired =
  /\b(canary|canaries|cadence|items?|decisions?|proposals?|settled|left ?overs?|topics?|capped|opened again|whom|whoever|anew)\b/i;

/** Settings, columns, codes and options, which are named as they are written. */
const writtenSo = /`[^`]*`|\b\w+\.\w+[\w.]*|--[\w-]+|\w+_\w+/g;

/** Records of the service that it names so, and a text that keys a digest. */
const otherMeanings = ['src/dossiers/sweep-dossiers.ts', 'src/matches/alert-code.ts'];

const listTexts = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|md|ya?ml|json|sh|service|conf|env)$/.test(entry.name))
    .map(({ parentPath, name }) => `${parentPath}/${name}`);

const toWords = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);

function findForbidden(file: string): readonly string[] {
  const allowed = new Set(
    Object.entries(exceptions).flatMap(([place, names]) => (file.startsWith(place) ? names : [])),
  );
  const names = readFileSync(file, 'utf8').match(/[A-Za-z_$][\w$]*/g) ?? [];
  const found = new Set(
    names.filter((name) => !allowed.has(name) && toWords(name).some((word) => forbidden.has(word))),
  );
  return [...found].map((name) => `${file}: ${name}`);
}

const files = [...['src', 'jobs', 'docs', 'deploy'].flatMap(listTexts), 'README.md', 'nightscreen.config.example.yaml'];

it('no name, comment, message or document holds a word that has a plain technical term', () => {
  expect(files.flatMap(findForbidden)).toEqual([]);
});

it('each exception is still needed', () => {
  const unneeded = Object.entries(exceptions).flatMap(([place, names]) => {
    const text = files.flatMap((file) => (file.startsWith(place) ? readFileSync(file, 'utf8') : [])).join('\n');
    return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)).map((name) => `${place}: ${name}`);
  });
  expect(unneeded).toEqual([]);
});

const listMessages = (leftOut: RegExp): readonly (readonly [file: string, text: string])[] =>
  listFiles('src')
    .filter((file) => !leftOut.test(file))
    .flatMap((file) => readMessages(file).map((text) => [file, text] as const));

it('no message, help text, report or mail holds a former word of the vocabulary', () => {
  const found = listMessages(/^src\/(sandbox|client|names)\//)
    .filter(([file, text]) => !otherMeanings.includes(file) && retired.test(text.replaceAll(writtenSo, '')))
    .map(([file, text]) => `${file}: ${text}`);
  expect(found).toEqual([]);
});

/** A list of languages, and a hint that quotes settings. */
const longTexts = ['src/roster/read-date.ts', 'src/roster/headers.ts'];
const mostWords = 25;

it('no sentence of a message, help text, report or mail has more than 25 words', () => {
  const long = listMessages(/^src\/(sandbox|names)\//)
    .filter(([file]) => !longTexts.includes(file))
    .flatMap(([file, text]) => text.split(/[.!?](?:\s|$)|\n/).map((sentence) => `${file}: ${sentence.trim()}`))
    .filter((sentence) => (sentence.match(/ \S*[\p{L}\p{N}…]/gu)?.length ?? 0) > mostWords);
  expect(long).toEqual([]);
});

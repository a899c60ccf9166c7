import { z } from 'zod';
import { topicFamiliesSchema } from '../changes/severity.js';
import { findBaseUrlProblem } from '../client/settings.js';
import { countEdits, findNearMiss } from '../near-miss.js';
import { knownTopics } from '../vocabulary/words.js';
import { keyVariable, pingVariable, type SettingPath, startsWith } from './environment.js';
import { configSchema } from './schema.js';

/** A mistake in a setting; `isAboutKey`: its key is wrong, not its value. */
export interface Mistake {
  path: SettingPath;
  isAboutKey: boolean;
  message: string;
}

/** All mistakes in settings, which need not be valid; only a file may have `organisations`. */
export function findMistakes(settings: unknown, schema: z.ZodType = configSchema): Mistake[] {
  const issues = schema.safeParse(settings).error?.issues ?? [];
  const secrets = findMisplacedSecrets(schema, settings);
  const isSaid = (mistake: Mistake): boolean => secrets.some((secret) => startsWith(secret.path, mistake.path));
  const others = issues.flatMap((issue) => describeIssue(schema, settings, issue));
  return [
    ...secrets,
    ...others.filter((mistake) => !isSaid(mistake)),
    ...findUrlMistake(settings),
    ...findControlCharacters(settings),
    ...findDuplicateRosters(settings),
    ...findUnknownRosters(settings),
    ...findMisspeltTopics(settings),
  ];
}

const kindsInWords: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'a group of settings',
  record: 'a group of settings',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  undefined: 'nothing',
};

function describeKind(value: unknown): string {
  if (typeof value === 'number' && !Number.isInteger(value))
    return Number.isFinite(value) ? 'a fraction' : 'infinity or not a number';
  const kind = Array.isArray(value) ? 'array' : typeof value;
  return kind === 'boolean' ? 'true/false' : (kindsInWords[kind] ?? kind);
}

function readAt(value: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

function describeType(expected: string, received: unknown): string {
  const words = kindsInWords[expected] ?? expected;
  if (received === undefined) return `is missing (expected ${words})`;
  if (received === null) return `is empty: write ${words} or remove the line`;
  const hint = expected === 'string' && typeof received === 'number' ? ` (with its unit, or in quotes)` : '';
  return `must be ${words}, not ${describeKind(received)}${hint}`;
}

function describeSize(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const isSmall = issue.code === 'too_small';
  const limit = isSmall ? issue.minimum : issue.maximum;
  const comparison = isSmall ? 'at least' : 'at most';
  if (issue.origin === 'string')
    return limit === 1 && isSmall ? 'is empty' : `must have ${comparison} ${limit} characters`;
  if (issue.origin === 'array') return `must have ${comparison} ${limit} entries`;
  if (issue.inclusive === false) return `must be ${isSmall ? 'more' : 'less'} than ${limit}`;
  return `must be ${comparison} ${limit}`;
}

type Issue = z.core.$ZodIssue;

/** The alternative with the fewest wrong or missing parts. */
function pickAlternative(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const deep = alternatives.filter(
    (issues) => !issues.some((issue) => issue.path.length === 0 && issue.code === 'invalid_type'),
  );
  const weigh = (issues: readonly Issue[]): number =>
    issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
  return deep.toSorted((left, right) => weigh(left) - weigh(right))[0] ?? null;
}

/** Describes one issue of the schema without the value itself. */
function describeIssue(schema: z.ZodType, input: unknown, issue: Issue, base: SettingPath = []): Mistake[] {
  const path: SettingPath = [...base, ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))];
  const say = (message: string): Mistake[] => [{ path, isAboutKey: false, message }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = listKnownKeys(schema, path);
        if (known.includes(key)) {
          const others = Object.keys(readAt(input, path) ?? {}).filter((other) => other !== key);
          return { path: [...path, key], isAboutKey: true, message: describeApart(schema, path, key, others) };
        }
        const meant = findNearMiss(key, known);
        const advice = meant ? `did you mean ${meant}?` : `known here: ${known.join(', ')}`;
        return { path: [...path, key], isAboutKey: true, message: `unknown setting; ${advice}` };
      });
    case 'invalid_type':
      return say(describeType(issue.expected, readAt(input, path)));
    case 'invalid_value': {
      const written = readAt(input, path);
      const allowed = issue.values.map(String);
      const meant = typeof written === 'string' ? findNearMiss(written, allowed) : null;
      if (written === undefined) return say(`is missing (expected ${allowed.join(', ')})`);
      return say(
        `must be ${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}${meant ? `; did you mean ${meant}?` : ''}`,
      );
    }
    case 'too_small':
    case 'too_big':
      return say(describeSize(issue));
    case 'invalid_union': {
      const nearest = pickAlternative(issue.errors);
      if (nearest) return nearest.flatMap((inner) => describeIssue(schema, input, inner, path));
      const kinds = issue.errors.flatMap((inner) =>
        inner.flatMap((each) => (each.code === 'invalid_type' ? [each.expected] : [])),
      );
      const words = [...new Set(kinds)].map((kind) => kindsInWords[kind] ?? kind).join(' or ');
      const isOwnMessage = issue.message !== 'Invalid input';
      return say(isOwnMessage || words === '' ? issue.message : describeType(words, readAt(input, path)));
    }
    case 'invalid_format':
      return say(issue.format === 'url' ? 'must be a URL such as https://service.example/v1' : issue.message);
    default:
      return say(issue.message);
  }
}

/** The schemas inside of optional parts, defaults and alternatives. */
function openSchema(schema: unknown): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return openSchema(schema.unwrap());
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return openSchema(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(openSchema);
  if (schema instanceof z.ZodPipe) return openSchema(schema.in);
  return schema instanceof z.ZodType ? [schema] : [];
}

function step(schema: z.core.$ZodType, key: string | number): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) return openSchema(schema.shape[key] ?? schema.def.catchall);
  if (schema instanceof z.ZodArray) return openSchema(schema.element);
  if (schema instanceof z.ZodRecord) return openSchema(schema.valueType);
  return [];
}

/** The keys of each alternative that the schema has at a path; empty when the keys are not fixed. */
function listAlternatives(schema: z.ZodType, path: SettingPath): string[][] {
  let reached = openSchema(schema);
  for (const key of path) reached = reached.flatMap((each) => step(each, key));
  return reached.flatMap((each) => {
    if (each instanceof z.ZodObject) return [Object.keys(each.shape)];
    const keys = each instanceof z.ZodRecord ? each.keyType : null;
    return keys instanceof z.ZodEnum ? [keys.options.map(String)] : [];
  });
}

const listKnownKeys = (schema: z.ZodType, path: SettingPath): string[] => [
  ...new Set(listAlternatives(schema, path).flat()),
];

/** A known key beside keys of another alternative, such as `column` beside `value`. */
function describeApart(schema: z.ZodType, path: SettingPath, key: string, others: readonly string[]): string {
  const alternatives = listAlternatives(schema, path);
  const apart = others.filter((other) => !alternatives.some((keys) => keys.includes(key) && keys.includes(other)));
  const allowed = alternatives.map((keys) => `{ ${keys.join(', ')} }`).join(' or ');
  return `cannot stand beside ${(apart.length > 0 ? apart : others).join(', ')}; write ${allowed}`;
}

// Rules over several settings, which a schema cannot express. They also work on invalid settings.

const listRosterNames = (settings: unknown): readonly unknown[] =>
  toList(readAt(settings, ['rosters'])).map((roster) => readAt(roster, ['name']));

function findDuplicateRosters(settings: unknown): Mistake[] {
  const names = listRosterNames(settings);
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    if (typeof name !== 'string' || first === index) return [];
    const message = `another roster has the same name (rosters[${first}]); names must differ`;
    return [{ path: ['rosters', index, 'name'], isAboutKey: false, message }];
  });
}

const secretKey = /^(api_?key|key|private_?key|password|passwd|pass|secret|token|database_?url|smtp_?url)$/i;
const addressKey = /^(url|dsn|connection_?string)$/i;
const secretValue = /^(private|public)_\w{6,}$/;

const holdsPassword = (value: string): boolean => URL.canParse(value) && new URL(value).password !== '';

/** How settings name the variable of a secret, by the start of their path. */
const examples: readonly (readonly [string, string])[] = [
  ['organisations', 'apiKeyEnv: NORTH_API_KEY'],
  ['rosters', 'postgres: { urlEnv: CORE_DATABASE_URL }'],
  ['webhooks', 'secretEnv: CORE_WEBHOOK_SECRET'],
];

/** The variables of other secrets than the key, by the place where they are looked for. */
const variables: readonly (readonly [RegExp, string])[] = [
  [/^mail.*(recipients|archive)/, 'NIGHTSCREEN_ARCHIVE_PASSWORD'],
  [/^mail|smtp/, 'SMTP_URL'],
  [/database/, 'DATABASE_URL'],
  [/^pings/, pingVariable],
];

function advise(path: SettingPath): string {
  const place = path.join('.').toLowerCase();
  const example = examples.find(([prefix]) => place.startsWith(prefix))?.[1];
  if (example !== undefined) return `remove it here and name the environment variable that holds it, as in ${example}`;
  const [, name = keyVariable] = variables.find(([pattern]) => pattern.test(place)) ?? [];
  return `remove it here and set ${name} or ${name}_FILE in the environment`;
}

/** Finds secrets in the configuration file by the name of the key or the form of the value. */
function findMisplacedSecrets(schema: z.ZodType, value: unknown, path: SettingPath = []): Mistake[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => findMisplacedSecrets(schema, item, [...path, index]));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => findMisplacedSecrets(schema, inner, [...path, key]));
  }
  const key = String(path.at(-1));
  const isKnown = listKnownKeys(schema, path.slice(0, -1)).includes(key);
  const isSecretByName =
    !isKnown && value !== null && (secretKey.test(key) || (path.length > 1 && addressKey.test(key)));
  const isSecretByValue = typeof value === 'string' && (secretValue.test(value) || holdsPassword(value));
  if (!isSecretByName && !isSecretByValue) return [];
  return [{ path, isAboutKey: true, message: `secrets are never read from this file; ${advise(path)}` }];
}

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The settings that restrict mail and webhooks to rosters by name. */
const places = [['mail', 'recipients'], ['webhooks']] as const;

/** Unknown rosters in the restrictions of mail or a webhook, which would never receive anything. */
function findUnknownRosters(settings: unknown): Mistake[] {
  const names = listRosterNames(settings).filter((name) => typeof name === 'string');
  // Without configured rosters, commands name roster files.
  if (names.length === 0) return [];
  return places.flatMap((path) =>
    toList(readAt(settings, [...path])).flatMap((reported, index) =>
      toList(readAt(reported, ['rosters'])).flatMap((roster, place) => {
        if (typeof roster !== 'string' || names.includes(roster)) return [];
        const meant = findNearMiss(roster, names);
        const message = `no roster has this name; ${meant ? `did you mean ${meant}?` : `there are: ${names.join(', ')}`}`;
        return [{ path: [...path, index, 'rosters', place], isAboutKey: false, message }];
      }),
    ),
  );
}

const commonTopics = [...knownTopics, ...Object.values(topicFamiliesSchema.parse({})).flat()];
const topicLists = [
  ...Object.keys(topicFamiliesSchema.shape).map((family) => ['changes', 'topics', family]),
  ['controls', '*', 'topics'],
];

/** Topics that are nearly a common one, which no match would ever have; other words may be the service's own. */
function findMisspeltTopics(settings: unknown): Mistake[] {
  const texts = topicLists.flatMap((pattern) => listTexts(settings, pattern));
  return texts.flatMap(({ path, text }) => {
    const topic = text.trim().toLowerCase();
    const meant = findMeantTopic(topic);
    const beside = toList(readAt(settings, path.slice(0, -1)));
    // A longer word beside the common one, such as `sanctions`, is written on purpose.
    if (meant === null || (topic.startsWith(meant) && beside.includes(meant))) return [];
    return [{ path, isAboutKey: false, message: `is no risk category that is known; did you mean ${meant}?` }];
  });
}

function findMeantTopic(topic: string): string | null {
  const [root = ''] = topic.split('.');
  for (const word of [topic, root]) {
    if (commonTopics.includes(word)) return null;
    // Short words that differ by two letters mean something else, as `role.spy` and `role.pep`.
    const mostEdits = word.length >= 8 && !word.includes('.') ? 2 : 1;
    const meant = commonTopics.find((known) => countEdits(word, known) <= mostEdits);
    if (meant !== undefined && word.length >= 5) return meant;
  }
  return null;
}

const addressSettings: readonly (readonly string[])[] = [
  ['service', 'baseUrl'],
  ['webhooks', '*', 'url'],
];

/** Addresses and paths with control characters: no file has such a name, and an address could change its meaning. */
function findControlCharacters(settings: unknown): Mistake[] {
  const texts = [...addressSettings, ...pathSettings].flatMap((pattern) => listTexts(settings, pattern));
  return texts.flatMap(({ path, text }) => {
    const [found] = /\p{Cc}/u.exec(text) ?? [];
    if (found === undefined) return [];
    const codePoint = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return [{ path, isAboutKey: false, message: `holds a control character (U+${codePoint}): remove it` }];
  });
}

/** The texts at the places of a pattern; `*` is any position of a list. */
export function listTexts(
  value: unknown,
  pattern: readonly string[],
  path: SettingPath = [],
): { path: SettingPath; text: string }[] {
  const [key, ...rest] = pattern;
  if (Array.isArray(value)) {
    const inner = key === '*' ? rest : pattern;
    return value.flatMap((item, at) => listTexts(item, inner, [...path, at]));
  }
  if (key === undefined) return typeof value === 'string' ? [{ path, text: value }] : [];
  const isGroup = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return isGroup ? listTexts(Reflect.get(value, key), rest, [...path, key]) : [];
}

function findUrlMistake(settings: unknown): Mistake[] {
  const path = ['service', 'baseUrl'];
  const baseUrl = readAt(settings, path);
  const message = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? findBaseUrlProblem(baseUrl) : undefined;
  return message ? [{ path, isAboutKey: false, message }] : [];
}

/** The settings that name a file or folder. */
export const pathSettings: readonly (readonly string[])[] = [
  ['database', 'folder'],
  ['reports', 'dir'],
  ['reports', 'publishTo'],
  ['evidence', 'dir'],
  ['evidence', 'signingKeyFile'],
  ['listen', 'key'],
  ['rosters', '*', 'csv', 'path'],
  ['rosters', '*', 'parties', '*', 'csv', 'path'],
];

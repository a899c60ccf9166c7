import { z } from 'zod';
import { findNearMiss } from './near-miss.js';
import type { SettingPath } from './source-file.js';

/** A mistake that the schema found: the setting, whether its key (and not its value) is wrong, and what is wrong in words. */
export interface Mistake {
  path: SettingPath;
  isAboutKey: boolean;
  message: string;
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
    return Number.isFinite(value) ? 'a fraction' : 'infinity or no number at all';
  const kind = Array.isArray(value) ? 'array' : typeof value;
  return kind === 'boolean' ? 'true/false' : (kindsInWords[kind] ?? kind);
}

/** The part of plain data at a path, or undefined. */
export function readAt(value: unknown, path: SettingPath): unknown {
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

/** The alternative that comes nearest to what was written: fewest wrong or missing parts. */
function pickAlternative(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const deep = alternatives.filter(
    (issues) => !issues.some((issue) => issue.path.length === 0 && issue.code === 'invalid_type'),
  );
  const weigh = (issues: readonly Issue[]): number =>
    issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
  return deep.toSorted((left, right) => weigh(left) - weigh(right))[0] ?? null;
}

/** Turns one finding of the schema into mistakes in words that never repeat the value itself. */
export function describeIssue(schema: z.ZodType, input: unknown, issue: Issue, base: SettingPath = []): Mistake[] {
  const path: SettingPath = [...base, ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))];
  const say = (message: string): Mistake[] => [{ path, isAboutKey: false, message }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = listKnownKeys(schema, path);
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

/** Every schema that a value may have to satisfy once optional parts, defaults and alternatives are opened up. */
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

/** The keys that the schema knows at a path; empty where it takes no fixed keys. */
export function listKnownKeys(schema: z.ZodType, path: SettingPath): string[] {
  let reached = openSchema(schema);
  for (const key of path) reached = reached.flatMap((each) => step(each, key));
  const keys = reached.flatMap((each) => (each instanceof z.ZodObject ? Object.keys(each.shape) : []));
  return [...new Set(keys)];
}

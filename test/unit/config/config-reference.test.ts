import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { variables } from '../../../src/config/environment.js';
import {
  listBlocks,
  listGroups,
  listSettings,
  renderConfigSchema,
  renderEnvironmentExample,
  renderReference,
  schemasFolder,
} from '../../helpers/shipped-files.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('the reference of the configuration', () => {
  const document = read('docs/configuration.md');

  test('docs/configuration.md, .env.example and the JSON Schema are what the code gives (`npm run docs:schemas` writes them)', () => {
    expect(document).toBe(renderReference(document));
    expect(read('.env.example')).toBe(renderEnvironmentExample());
    expect(readFileSync(new URL('config.schema.json', schemasFolder), 'utf8')).toBe(renderConfigSchema());
  });

  test('every group of the file and the environment have their place in it', () => {
    expect(listBlocks(document).toSorted()).toEqual(['variables', ...listGroups()].toSorted());
  });

  test('there are at most 139 settings: values by their path, each list of groups counted once, groups not', () => {
    const isValue = ({ type }: { type: string }): boolean => type !== 'group' && type !== 'list of groups';
    expect(listSettings().filter(isValue).length).toBeLessThanOrEqual(139);
  });

  test('every setting says what it means', () => {
    const settings = listSettings();
    expect(settings.length).toBeGreaterThan(100);
    expect(settings.filter(({ description }) => !description).map(({ path }) => path)).toEqual([]);
    for (const { path } of settings) expect(document).toContain(`| \`${path}\` |`);
  });

  test('a default that is kept in the code of a list or of a value that is changed as it is read is told, too', () => {
    const initials = new Map(listSettings().map(({ path, initial }) => [path, initial]));
    expect(initials.get('rosters')).toBe('`[]`');
    expect(initials.get('rosters[].csv.delimiter')).toBe('`auto`');
    expect(initials.get('mail.from')).toBe('required');
    expect(initials.get('service.mode')).toBe('none');
  });

  test('every variable that the code reads by name is in it', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const names = files.flatMap((name) =>
      [...read(`src/${name}`).matchAll(/(?:environment|process\.env)\['(\w+)'\]/g)].map(([, found = '']) => found),
    );
    // Those that the system and npm set.
    const ofEverySystem = ['PATH', 'TERM', 'NPM_COMMAND', 'NPM_PACKAGE_NAME'];
    expect(names.length).toBeGreaterThan(3);
    const known = [...variables.map(({ name }) => name), ...ofEverySystem];
    expect(names.filter((name) => !known.includes(name.toUpperCase()))).toEqual([]);
  });
});

describe('the JSON Schema for editors', () => {
  // The library finds no reference to a property, as editors do.
  const written = JSON.parse(renderConfigSchema().replaceAll('#/properties/', '#/definitions/'));
  const schema = z.fromJSONSchema({ ...written, definitions: written.properties });

  test('takes the example file, which names it on its first line', () => {
    const example = read('nightscreen.config.example.yaml');
    expect(example.split('\n')[0]).toBe('# yaml-language-server: $schema=docs/schemas/config.schema.json');
    expect(schema.safeParse(parse(example)).error).toBeUndefined();
  });

  test('an entry of organisations takes the groups of the top level, mail also without its sender', () => {
    const entry = { name: 'north', apiKeyEnv: 'NORTH_API_KEY', mail: { to: ['a@bank.example'] } };
    expect(schema.safeParse({ organisations: [entry] }).error).toBeUndefined();
    expect(schema.safeParse({ organisations: [{ ...entry, service: { mood: 1 } }] }).success).toBe(false);
    expect(schema.safeParse({ organisations: [{ ...entry, database: {} }] }).success).toBe(false);
  });

  test('refuses an unknown key and a wrong type, and takes the number of a column', () => {
    const columns = { id: 1, name: [2, 3] };
    const roster = { name: 'retail', csv: { path: 'a.csv', header: false }, columns };
    expect(schema.safeParse({ rosters: [roster] }).success).toBe(true);
    expect(schema.safeParse({ rosters: [{ ...roster, colums: columns }] }).success).toBe(false);
    expect(schema.safeParse({ service: { rate: { perSecond: 'fast' } } }).success).toBe(false);
  });
});

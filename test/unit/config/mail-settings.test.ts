import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { type Config, loadConfig } from '../../../src/config/load-config.js';
import { ConfigError } from '../../../src/errors.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function load(text: string, environment = {}): Config {
  writeFileSync(join(folder, 'nightscreen.config.yaml'), text);
  return loadConfig({ environment, folder });
}

function findProblems(text: string, environment = {}): readonly string[] {
  try {
    load(text, environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ where, path, message }) => `${where} ${path} ${message}`);
  }
  return [];
}

const rosters = 'rosters: [{ name: retail, csv: { path: a.csv } }]\n';
const mail = (entry: string): string => `${rosters}mail:\n  from: a@b.example\n  recipients:\n    - ${entry}\n`;

describe('who gets what', () => {
  it('is told by recipients, or by the short form, or both', () => {
    const full = '{ to: b@b.example, rosters: [retail], kinds: [summary], severities: [critical], attach: archive }';
    expect(load(mail(full)).settings.mail).toMatchObject({
      to: [],
      recipients: [{ to: 'b@b.example', kinds: ['summary'] }],
    });
    const short = load('mail: { from: a@b.example, to: [b@b.example] }\n').settings.mail;
    expect(short).toMatchObject({ to: ['b@b.example'], recipients: [], transport: 'file' });
  });

  test.each([
    ['mail: { from: a@b.example }\n', 'nightscreen.config.yaml:1:1 mail.to has no recipient'],
    [mail('{ to: [] }'), 'nightscreen.config.yaml:5:9 mail.recipients[0].to must have at least 1 entries'],
    [mail('{ to: b@b.example, kinds: [reports] }'), '5:34 mail.recipients[0].kinds[0] must be one of report, summary'],
    [mail('{ to: b@b.example, attach: zip }'), '5:34 mail.recipients[0].attach must be one of none, masked'],
    [mail('{ to: b@b.example, rosters: [retial] }'), 'rosters[0] no roster has this name; did you mean retail?'],
    [
      `${rosters}webhooks: [{ url: "https://core.example/", rosters: [retial] }]\n`,
      'webhooks[0].rosters[0] no roster has this name; did you mean retail?',
    ],
    [mail('{ to: b@b.example, password: geheimnisvoll }'), 'set NIGHTSCREEN_ARCHIVE_PASSWORD or'],
  ])('a mistake is told with its place: %s', (text, said) => {
    const problems = findProblems(text).join('\n');
    expect(problems).toContain(said);
    expect(problems).not.toContain('geheimnisvoll');
  });

  it('a password that machines guess is refused, and never shown', () => {
    const problems = findProblems(rosters, { NIGHTSCREEN_ARCHIVE_PASSWORD: 'hunter2' });
    expect(problems).toEqual(['env NIGHTSCREEN_ARCHIVE_PASSWORD  must have at least 12 characters']);
  });
});

it('the folder for readers is not the one the reports are written to', () => {
  expect(load('reports: { dir: ./out, publishTo: share }\n').settings.reports.publishTo).toBe(join(folder, 'share'));
  const [problem] = findProblems('reports: { dir: ./out, publishTo: out }\n');
  expect(problem).toContain('reports.publishTo is the folder of the reports themselves');
});

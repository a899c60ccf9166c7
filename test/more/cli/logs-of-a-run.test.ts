import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { testDatabases } from '../../helpers/databases.js';
import { findFreePort } from '../../helpers/loopback.js';
import { watchlist } from '../../helpers/small-world.js';

const databases = testDatabases('postgres');

// Listed, unlisted, one whose answers are never valid, and rows that are rejected or name an alias.
const roster = `customer_id,type,name,birth_date,aka
K-1,person,Wilhelmina Achterberg,1960-01-01,Wilma Achterb
K-2,person,Tamsin Oyelaran,1971-02-03,
K-3,person,Bertil Kvarnström,31.31.1971,
K-4,robot,Aroha Ngata,,
K-5,person,Ciro Malvestuto,,
`;
const personal = /achterberg|achterb\b|wilma|oyelaran|kvarnstr|ngata|malvestuto|1960-01-01|1971-02-03|31\.31\.1971/i;

const configuration = `
service: { rate: { perSecond: 200, concurrency: 4 } }
rosters:
  - name: retail
    csv: { path: roster.csv }
    columns: { aliases: { column: aka, separator: ";" } }
    guards: { maxRejectShare: 1 }
controls: [{ type: person, name: Control Listed, expect: match }]
run: { deadline: 2s }
log: { level: debug }
reports: { dir: ./reports }
mail: { transport: smtp, from: night@bank.example, to: [one@bank.example] }
`;

it('no customer and no secret is in the log of whole nights, whatever goes wrong, at level debug; each line of a run names it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-logs-'));
  const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
  const { url = '' } = await databases.locate();
  const secrets = { smtp: 'planted-smtp-secret', archive: 'planted-archive-secret' };
  const environment = {
    NIGHTSCREEN_BASE_URL: sandbox.url,
    NIGHTSCREEN_API_KEY: sandbox.privateKey,
    DATABASE_URL: url,
    SMTP_URL: `smtp://night:${secrets.smtp}@127.0.0.1:${await findFreePort()}`,
    NIGHTSCREEN_ARCHIVE_PASSWORD: secrets.archive,
  };
  await writeFile(join(folder, 'roster.csv'), roster);
  await writeFile(join(folder, 'nightscreen.config.yaml'), configuration);
  let messages = '';
  let data = '';
  const night = async (...words: string[]): Promise<number> =>
    runCommandLine({
      words,
      environment,
      folder,
      terminal: {
        writeData: async (text) => {
          data += text;
        },
        writeMessage: (text) => {
          messages += text;
        },
        isScreen: false,
        columns: 80,
        hasColours: false,
      },
    });
  const codes: number[] = [];
  try {
    codes.push(await night('rescreen'));
    sandbox.setFaults([
      { name: 'Tamsin Oyelaran', times: 20, raw: { status: 201, body: '{"query":"Bertil Kvarnström"}' } },
      { name: 'Ciro Malvestuto', times: 20, raw: { status: 400, body: '{"error":{"message":"Ciro Malvestuto?"}}' } },
    ]);
    codes.push(await night('screen', '--all'));
    sandbox.setFaults([]);
    sandbox.setConditions({ path: '/aml/search', outage: { status: 'cut' } });
    codes.push(await night('screen', '--all'));
    sandbox.setConditions({});
    await writeFile(
      join(folder, 'roster.csv'),
      roster.replace('K-5,person,Ciro Malvestuto,,', 'K-5,person,"Ciro Malvestuto'),
    );
    codes.push(await night('rescreen'));
    // Without its header, which makes a customer of the first line.
    await writeFile(join(folder, 'roster.csv'), roster.slice(roster.indexOf('\n') + 1));
    codes.push(await night('rescreen'));
    codes.push(await night('import'));
    data = '';
    codes.push(await night('runs'));
  } finally {
    await sandbox.close();
  }
  const lines = messages.split('\n').filter((line) => line.startsWith('{'));
  // One row cannot be read.
  expect(codes[0]).toBe(3);
  expect(new Set(codes.slice(1)).size).toBeGreaterThan(1);
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.filter((line) => line.includes('"level":"warn"')).length).toBeGreaterThan(3);
  expect(messages.split('\n').filter((line) => personal.test(line))).toEqual([]);
  expect(data).toContain('The first line has 5 columns');
  expect(data).not.toMatch(personal);
  const password = new URL(url).password;
  const planted = [sandbox.privateKey, secrets.smtp, secrets.archive, ...(password === '' ? [] : [password])];
  for (const secret of planted) expect(messages).not.toContain(secret);
  const ofRuns = lines.map((line) => JSON.parse(line)).filter(({ runId }) => typeof runId === 'string');
  expect(ofRuns.filter(({ roster: name }) => name !== 'retail')).toEqual([]);
  const others = lines.map((line) => JSON.parse(line)).filter(({ runId }) => typeof runId !== 'string');
  expect(others.filter(({ code }) => !['mail_waits', 'mail_not_sent'].includes(code))).toEqual([]);
  expect(lines.filter((line) => line.includes('"msg":"command_failed"'))).toHaveLength(1);
}, 120_000);

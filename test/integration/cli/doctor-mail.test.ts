import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkDelivery, checkImportedMail } from '../../../src/cli/doctor/check-all.js';
import { checkDatabase } from '../../../src/cli/doctor/database.js';
import { type Config, loadConfig } from '../../../src/config/load-config.js';
import { testDatabases } from '../../helpers/databases.js';
import { serveMail } from '../../helpers/mail-server.js';

const folder = await mkdtemp(join(tmpdir(), 'nightscreen-doctor-'));

interface Given {
  mail?: Record<string, unknown>;
  rosters?: readonly string[];
  webhooks?: unknown;
  environment?: Record<string, string>;
}
async function load({ mail = {}, rosters = [], webhooks = [], environment = {} }: Given): Promise<Config> {
  const file = join(folder, 'nightscreen.config.yaml');
  const written = {
    reports: { dir: folder },
    mail: { from: 'night@bank.example', ...mail },
    rosters: rosters.map((name) => ({ name, csv: { path: `${name}.csv` } })),
    webhooks,
  };
  await writeFile(file, JSON.stringify(written));
  return loadConfig({ environment, folder, file, flags: [] });
}
const checkMail = async (config: Config) =>
  (await checkDelivery(config)).filter(({ check }) => check.startsWith('mail'));
const recipient = (changes: Record<string, unknown> = {}) => ({ to: 'mlro@bank.example', ...changes });

describe('doctor, about who is told', () => {
  it('warns of each roster of which a night that is not whole would be told to nobody', async () => {
    const recipients = [
      recipient({ rosters: ['retail'], severities: ['critical'] }),
      recipient({ rosters: ['core'], kinds: ['warning'] }),
      recipient({ rosters: ['fund'], kinds: ['failure'] }),
    ];
    const findings = await checkMail(
      await load({ mail: { recipients }, rosters: ['retail', 'core', 'fund', 'cards'] }),
    );
    const unreported = findings.filter(({ state }) => state !== 'ok');
    expect(unreported).toMatchObject([
      {
        state: 'warn',
        message: expect.stringContaining('the roster core has no mail recipient:'),
        next: expect.stringContaining('add core'),
      },
      { state: 'warn', message: expect.stringContaining('the roster cards has no mail recipient:') },
    ]);
    expect(
      (await checkMail(await load({ mail: { to: ['a@b.example'] }, rosters: ['core'] }))).map(({ state }) => state),
    ).toEqual(['ok', 'ok']);
  });

  const { open, locate } = testDatabases('postgres');
  it('goes by the rosters that were imported where files are given with commands', async () => {
    const location = await locate();
    const database = await open(location);
    const mail = { recipients: [recipient({ rosters: ['retail', 'crads'] })] };
    const config = await load({ mail, environment: { DATABASE_URL: location.url ?? '' } });
    const check = async () => checkImportedMail(config, (await checkDatabase(config)).imported);
    expect(await check()).toEqual([]);
    await database.runScript(`
      insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
      insert into roster (organisation_id, name, created_at) values (1, 'retail', now()), (1, 'cards', now());
      insert into run (organisation_id, roster_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
        select 1, n, 'test', 'import', 'complete', 'finished', 'k', 1, 'o', 's', 'v', now() from generate_series(1, 2) n;
      insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
        select run_id, roster_id, 's', 'd', now(), 0, 0, 0, 0, 0 from run;
    `);
    expect(await check()).toMatchObject([
      { state: 'warn', message: expect.stringContaining('the roster cards has no mail recipient:') },
      {
        state: 'warn',
        message: expect.stringContaining('names the roster crads'),
        next: expect.stringContaining('cards, retail'),
      },
    ]);
  });
});

describe('doctor, about the mail server', () => {
  const examine = async (url: string): Promise<readonly unknown[]> => {
    const mail = { transport: 'smtp', to: ['a@b.example'] };
    return (await checkMail(await load({ mail, environment: { SMTP_URL: url } }))).slice(1);
  };

  it('connects and sends nothing', async () => {
    const server = await serveMail();
    expect(await examine(server.url)).toMatchObject([{ check: 'mail server', state: 'ok' }]);
    expect(server.received).toEqual([]);
  });

  it('says what is wrong and what to do, and never shows the password', async () => {
    const plain = await serveMail();
    const unverified = await serveMail({ offersTls: true });
    const gone = await serveMail();
    await gone.close();
    // 0.0.0.0 reaches this machine without being a loopback name.
    const found = [
      ...(await examine(`smtp://0.0.0.0:${plain.port}`)),
      ...(await examine(`smtp://0.0.0.0:${unverified.port}`)),
      ...(await examine(`smtp://night:geheimnisvoll@127.0.0.1:${plain.port}`)),
      ...(await examine(gone.url)),
    ];
    const fail = (message: string, next: string) => ({
      state: 'fail',
      message: expect.stringContaining(message),
      next: expect.stringContaining(next),
    });
    expect(found).toMatchObject([
      fail('no verified encryption', 'STARTTLS'),
      fail('certificate', 'NODE_EXTRA_CA_CERTS'),
      fail('Invalid login', 'user and password'),
      fail('ECONNREFUSED', 'host and port'),
    ]);
    expect(JSON.stringify(found)).not.toContain('geheimnisvoll');
  });
});

it('doctor finds a webhook without its secret before a night does', async () => {
  const webhooks = [{ url: 'https://core.example/hook' }];
  const findings = await checkDelivery(await load({ mail: { to: ['a@b.example'] }, webhooks }));
  expect(findings.filter(({ state }) => state !== 'ok')).toMatchObject([
    { check: 'webhooks', state: 'fail', message: expect.stringContaining('NIGHTSCREEN_WEBHOOK_SECRET is not set') },
  ]);
});

import type { SettingPath } from './source-file.js';

/** An environment variable that Nightscreen reads. */
export interface Variable {
  name: string;
  /** In words, for the reference and `.env.example`. */
  meaning: string;
  /** A secret may also be given as the file that `NAME_FILE` names, and is never shown. */
  isSecret: boolean;
  /** The setting that it overrides. */
  overrides?: SettingPath;
  /** What it may look like; no real value. */
  example: string;
}

const secret = (name: string, meaning: string, example: string): Variable => ({
  name,
  meaning,
  isSecret: true,
  example,
});

const overriding = (name: string, path: SettingPath, example: string): Variable => ({
  name,
  meaning: `overrides \`${path.join('.')}\``,
  isSecret: false,
  overrides: path,
  example,
});

/** Every variable that is read by its own name; those that the settings name (`urlEnv`, `secretEnv`) come on top. */
export const variables: readonly Variable[] = [
  secret('NIGHTSCREEN_API_KEY', 'private key of the service', 'private_sandbox_...'),
  secret(
    'DATABASE_URL',
    '`postgres://` or `postgresql://` URL; absent means the embedded database',
    'postgres://nightscreen:...@db.example:5432/nightscreen?sslmode=verify-full',
  ),
  secret(
    'SMTP_URL',
    'mail server: `smtp://user:password@host:port` or `smtps://...`, without options after the host',
    'smtps://nightscreen:...@mail.example:465',
  ),
  secret(
    'NIGHTSCREEN_ARCHIVE_PASSWORD',
    'opens the archives that mail carries with `attach: archive`; at least 12 characters',
    '...',
  ),
  overriding('NIGHTSCREEN_BASE_URL', ['service', 'baseUrl'], 'https://service.example/v1'),
  overriding('NIGHTSCREEN_DATA', ['database', 'folder'], '/var/lib/nightscreen/data'),
  overriding('NIGHTSCREEN_REPORTS', ['reports', 'dir'], '/var/lib/nightscreen/reports'),
  overriding('NIGHTSCREEN_LISTEN_KEY', ['listen', 'key'], '/etc/nightscreen/events.pem'),
  overriding('NIGHTSCREEN_LOG_LEVEL', ['log', 'level'], 'info'),
  {
    name: 'NIGHTSCREEN_CONFIG',
    meaning: 'the configuration file, where `--config` names none',
    isSecret: false,
    example: '/etc/nightscreen/nightscreen.config.yaml',
  },
  {
    name: 'HTTPS_PROXY',
    meaning: 'the proxy for all requests that leave the machine; its address may hold `user:password@`',
    isSecret: false,
    example: 'http://proxy.example:3128',
  },
  {
    name: 'NO_PROXY',
    meaning: 'hosts that no proxy is used for, separated by commas',
    isSecret: false,
    example: 'db.example,.internal.example',
  },
  {
    name: 'CHROMIUM_PATH',
    meaning: 'the browser that prints `report --pdf`, where none is on the PATH',
    isSecret: false,
    example: '/usr/bin/chromium',
  },
  { name: 'NO_COLOR', meaning: 'set to anything: no colours on a terminal', isSecret: false, example: '1' },
];

import { Argument, type Command } from 'commander';
import { toKeyFingerprint } from '../../client/credentials.js';
import { keyVariable, listNamedSecrets, type SettingPath, secretNames } from '../../config/environment.js';
import { type Config, formatPath } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { toRedactor } from '../../logging.js';
import { formatTime, toVisibleText } from '../../reports/text.js';
import type { AcceptedSettings } from '../../runs/settings-acceptance.js';
import type { Acceptance } from '../../runs/settings-diff.js';
import { listSecrets } from '../app-context.js';
import { shells } from '../completion.js';
import { exitCodes } from '../exit-code.js';
import type { Act } from '../invocation.js';
import { addByOption, examples, shared } from '../options.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { formatTable } from '../text.js';

function addShow(config: Command, act: Act): void {
  config
    .command('show')
    .description('print every setting with its origin; for secrets only whether they are set')
    .addHelpText('after', examples(['config show', 'config show --config ./test.yaml']))
    .action(() =>
      act(async (invocation) => {
        const loaded = loadInvocationConfig(invocation);
        const { secrets, ...described } = describeConfig(loaded);
        // A query or an address may hold a secret.
        const redact = toRedactor(listSecrets(loaded));
        const settings = described.settings.map(({ value, ...rest }) => ({
          ...rest,
          value: typeof value === 'string' ? redact(value) : value,
        }));
        return {
          exitCode: exitCodes.complete,
          document: {
            schema: 'nightscreen/config/1',
            file: loaded.file,
            settingsDigest: loaded.settingsDigest,
            settings,
            secrets,
          },
          text: formatTable([
            ...settings.map(({ path, value, origin }) => [path, JSON.stringify(value), origin]),
            ...secrets.map(({ name, state, fingerprint, from }) => [
              name,
              fingerprint === null ? state : `${state} (${fingerprint})`,
              state === 'set' ? `env ${from ?? name}` : '-',
            ]),
          ]),
        };
      }),
    );
}

function addSchema(config: Command, act: Act): void {
  config
    .command('schema')
    .description('print the JSON Schema of the configuration file, for editors')
    .addHelpText('after', examples(['config schema', 'config schema > nightscreen.schema.json']))
    .action(() =>
      act(async ({ terminal }) => {
        const { toConfigJsonSchema } = await import('../../config/schema.js');
        await terminal.writeData(`${JSON.stringify(toConfigJsonSchema(), null, 2)}\n`);
        return null;
      }),
    );
}

function addAccept(config: Command, act: Act): void {
  addByOption(config.command('accept'))
    .description(
      'accept changed assessment settings (`doctor` names them), so that runs use them; name and reason are recorded',
    )
    .addOption(shared('reason', '<text>'))
    .addHelpText(
      'after',
      examples([
        'config accept --by "A. Meyer" --reason "step agreed on 12 March"',
        'config accept --reason "new threshold" --json',
      ]),
    )
    .action((options: { by?: string; reason?: string }) =>
      act(async (invocation) => {
        const { acceptSettings, findAcceptance } = await import('../../runs/settings-acceptance.js');
        const { by, reason } = options;
        return withAppContext(invocation, { needsDatabase: true }, async (app) => {
          const acceptance = await findAcceptance(app.database, { by, reason });
          const accepted = await acceptSettings(app, acceptance);
          const { recorded, isProposed, differences, ofTwo, proposers } = accepted;
          const { name, isAttested } = acceptance.by;
          return {
            exitCode: isProposed ? exitCodes.incomplete : exitCodes.complete,
            document: {
              schema: 'nightscreen/config-accept/1',
              recorded,
              isProposed,
              differences,
              takeTwoPeople: ofTwo,
              proposedBy: proposers.find((one) => one !== name) ?? null,
              acceptedBy: name,
              isAttested,
              reason: acceptance.reason,
            },
            text: describeAccepted(accepted, acceptance.by),
          };
        });
      }),
    );
}

const nameAcceptor = (name: string, isAttested: boolean): string =>
  `${toVisibleText(name)}${isAttested ? ' (attested)' : ''}`;

function describeAccepted(accepted: AcceptedSettings, { name, isAttested }: Acceptance['by']): string {
  const { recorded, isProposed, differences, ofTwo, proposers } = accepted;
  const who = nameAcceptor(name, isAttested);
  const listed = differences.map((difference) => `${toVisibleText(difference)}\n`).join('');
  if (isProposed) {
    const said = proposers.length === 0 ? `accepted by ${who} first` : `${who} has accepted these before`;
    return `${listed}${said}: with four eyes in force, ${ofTwo.join(', ')} takes two people. The settings before stay in force until another person accepts the same with the same command\n`;
  }
  if (!recorded) return 'nothing to accept: the assessment settings equal those that were accepted last\n';
  if (differences.length === 0) return `the assessment settings are recorded as accepted by ${who}\n`;
  const both = proposers.filter((one) => one !== name).map((one) => `${toVisibleText(one)} and `)[0] ?? '';
  return `${listed}accepted by ${both}${who}; runs use these settings from now on\n`;
}

function addHistory(config: Command, act: Act): void {
  config
    .command('history')
    .description('who accepted which assessment settings, when and why')
    .addHelpText('after', examples(['config history', 'config history --json']))
    .action(() =>
      act(async (invocation) => {
        const { readSettingsHistory } = await import('../../store/organisations.js');
        return withAppContext(invocation, { needsDatabase: true }, async ({ database, settings }) => {
          const records = await readSettingsHistory(database, settings.organisation);
          return {
            exitCode: exitCodes.complete,
            document: { schema: 'nightscreen/config-history/1', records },
            text:
              records.length === 0
                ? 'no settings are recorded yet: the first run records its own\n'
                : formatTable(
                    records.flatMap(({ acceptedAt, acceptedBy, isAttested, proposedBy, reason, differences }) => [
                      [
                        formatTime(acceptedAt),
                        (proposedBy === null ? '' : `${toVisibleText(proposedBy)} and `) +
                          (acceptedBy === 'first settings' ? acceptedBy : nameAcceptor(acceptedBy, isAttested)),
                        toVisibleText(reason),
                      ],
                      ...differences.map((difference) => ['', '', `  ${toVisibleText(difference)}`]),
                    ]),
                  ),
          };
        });
      }),
    );
}

function addCompletion(config: Command, act: Act): void {
  const command = config
    .command('completion')
    .description('print the completion script of a shell; source it, or save it where the shell looks')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      examples(['config completion bash > nightscreen.bash', 'config completion zsh > _nightscreen']),
    )
    .action((shell: (typeof shells)[number]) =>
      act(async ({ terminal }) => {
        const { renderCompletion } = await import('../completion.js');
        await terminal.writeData(renderCompletion(shell, findProgram(command)));
        return null;
      }),
    );
}

const findProgram = (command: Command): Command => (command.parent === null ? command : findProgram(command.parent));

/** Adds `config show`, `config schema`, `config accept`, `config history` and `config completion`. */
export function addConfigCommand(program: Command, act: Act): void {
  const config = program
    .command('config')
    .summary('show and accept the settings; shell completion')
    .description('the settings in force, their origins, and who accepted them');
  config.addHelpText('after', examples(['config show', 'config history']));
  addShow(config, act);
  addSchema(config, act);
  addAccept(config, act);
  addHistory(config, act);
  addCompletion(config, act);
}

function listLeaves(value: unknown, path: SettingPath): { path: SettingPath; value: unknown }[] {
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : [];
  if (entries.length === 0) return value === undefined ? [] : [{ path, value }];
  return entries.flatMap(([key, inner]) => listLeaves(inner, [...path, key]));
}

/** Whether a secret is set. A key has a `fingerprint`; a URL has none, because it would reveal a short password to guessing. */
function describeSecret(config: Config, name: string) {
  try {
    const from = config.originOfSecret(name);
    const value = config.secret(name);
    if (value === undefined) return { name, state: 'not set', fingerprint: null, from: null };
    return { name, state: 'set', fingerprint: name === keyVariable ? toKeyFingerprint(value) : null, from };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { name, state: 'cannot be read', fingerprint: null, from: null };
  }
}

/** Every setting with its origin; for every secret, those that settings name included, only whether it is set. */
export function describeConfig(config: Config) {
  const settings = listLeaves(config.settings, []).map(({ path, value }) => ({
    path: formatPath(path),
    value,
    origin: config.originOf(path),
  }));
  const names = new Set([...secretNames, ...listNamedSecrets(config.settings)]);
  return { settings, secrets: [...names].map((name) => describeSecret(config, name)) };
}

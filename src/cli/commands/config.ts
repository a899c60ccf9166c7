import type { Command } from 'commander';
import { toKeyFingerprint } from '../../client/credentials.js';
import {
  type Environment,
  keyVariable,
  listNamedSecrets,
  readSecret,
  type SettingPath,
  secretNames,
} from '../../config/environment.js';
import { type Config, formatPath, overlaySettings } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { toRedactor } from '../../logging.js';
import { countNoun, formatCount, formatTime, toVisibleText } from '../../reports/text.js';
import { replaySettings } from '../../runs/replay.js';
import { type AcceptedSettings, acceptSettings, findAcceptance } from '../../runs/settings-acceptance.js';
import type { Acceptance } from '../../runs/settings-diff.js';
import { readSettingsHistory } from '../../store/organisations.js';
import { listSecrets } from '../app-context.js';
import { defineCommand, defineDatabaseCommand, definePreparedCommand, parsed } from '../command.js';
import { renderCompletion } from '../completion.js';
import { exitCodes } from '../exit-code.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { meanings, parseInstant, shared } from '../options.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { formatTable, type Row } from '../text.js';

const accept = defineDatabaseCommand({
  usage: 'accept',
  description:
    'accept changed assessment settings (`doctor` names them), so that runs use them; name and reason are recorded',
  options: { by: shared.by, reason: shared.reason },
  examples: [
    'config accept --by "A. Meyer" --reason "step agreed on 12 March"',
    'config accept --reason "new threshold" --json',
  ],
  run: async (app, { options }) => {
    const acceptance = await findAcceptance(app.database, options);
    const accepted = await acceptSettings(app, acceptance);
    const { recorded, isProposed, differences, ofTwo, proposers } = accepted;
    const { name, isAttested } = acceptance.by;
    return toOutcome(
      'nightscreen/config-accept/1',
      {
        recorded,
        isProposed,
        differences,
        takeTwoPeople: ofTwo,
        proposedBy: proposers.find((one) => one !== name) ?? null,
        acceptedBy: name,
        isAttested,
        reason: acceptance.reason,
      },
      describeAccepted(accepted, acceptance.by),
      isProposed ? exitCodes.incomplete : exitCodes.complete,
    );
  },
});

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

const replay = definePreparedCommand({
  usage: 'replay <file>',
  description:
    'assess stored answers again under the settings of a file, and count the differences; the file may have only the part that differs; changes nothing',
  options: { since: parsed('<day>', meanings.since, parseInstant) },
  examples: ['config replay stricter.yaml', 'config replay stricter.yaml --since 2026-03-01'],
  needs: { isLasting: true },
  prepare: ({ config, invocation, argument: file }) => overlaySettings(config.settings, invocation.folder, file),
  run: async (app, { argument: file, prepared: other, options: { since = null } }) =>
    presentReplay(await replaySettings(app, other, since), file),
});

const completion = defineCommand({
  usage: 'completion',
  description: 'print the completion script for bash and zsh, to be sourced; in zsh after compinit',
  examples: ['config completion', 'config completion > nightscreen-completion.sh'],
  run: async ({ invocation }, command) => {
    await invocation.terminal.writeData(renderCompletion(findProgram(command)));
    return null;
  },
});

const findProgram = (command: Command): Command => (command.parent === null ? command : findProgram(command.parent));

export const command = defineCommand({
  usage: 'config',
  isForEach: true,
  description:
    'print every setting with its origin, for secrets only whether they are set; with --all also who accepted which settings, and why',
  options: { all: shared.all },
  examples: ['config --config ./test.yaml', 'config --all'],
  commands: [accept, replay, completion],
  run: async ({ options: { all = false }, invocation }) => {
    const loaded = loadInvocationConfig(invocation);
    const { settings, secrets } = describeConfig(loaded, invocation.environment);
    const history = all
      ? await withAppContext(invocation, { config: loaded, needsDatabase: true }, ({ database, settings }) =>
          readSettingsHistory(database, settings.organisation),
        )
      : null;
    const { file, settingsDigest } = loaded;
    return toOutcome(
      'nightscreen/config/1',
      { file, settingsDigest, settings, secrets, ...(history !== null && { history }) },
      [
        formatTable([
          ...settings.map(({ path, value, origin }) => [path, JSON.stringify(value), origin]),
          ...secrets.map(({ name, state, fingerprint, from }) => [
            name,
            fingerprint === null ? state : `${state} (${fingerprint})`,
            state === 'set' ? `env ${from ?? name}` : '-',
          ]),
        ]),
        history === null ? '' : `\nAccepted\n${formatHistory(history)}`,
      ].join(''),
    );
  },
});

type SettingsHistory = Awaited<ReturnType<typeof readSettingsHistory>>;

function formatHistory(history: SettingsHistory): string {
  if (history.length === 0) return 'no settings are recorded yet: the first run records its own\n';
  return formatTable(
    history.flatMap(({ acceptedAt, acceptedBy, isAttested, proposedBy, reason, differences }): Row[] => {
      const first = proposedBy === null ? '' : `${toVisibleText(proposedBy)} and `;
      const last = acceptedBy === 'first settings' ? acceptedBy : nameAcceptor(acceptedBy, isAttested);
      return [
        [formatTime(acceptedAt), `${first}${last}`, toVisibleText(reason)],
        ...differences.map((difference) => ['', '', `  ${toVisibleText(difference)}`]),
      ];
    }),
  );
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

/** Whether a secret is set. A key has a `fingerprint`; that of a URL would reveal a short password to guessing. */
function describeSecret(environment: Environment, name: string, apiKeyEnv: string) {
  try {
    const secret = readSecret(environment, name);
    if (secret === undefined) return { name, state: 'not set', fingerprint: null, from: null };
    const fingerprint = name === apiKeyEnv ? toKeyFingerprint(secret.value) : null;
    return { name, state: 'set', fingerprint, from: secret.from };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { name, state: 'cannot be read', fingerprint: null, from: null };
  }
}

/** Every setting with its origin; for every secret, those that settings name included, only whether it is set. */
export function describeConfig(config: Config, environment: Environment) {
  // A query or an address may hold a secret.
  const redact = toRedactor(listSecrets(config));
  const settings = listLeaves(config.settings, []).map(({ path, value }) => ({
    path: formatPath(path),
    origin: config.originOf(path),
    value: typeof value === 'string' ? redact(value) : value,
  }));
  const apiKeyEnv = config.variableOf(keyVariable);
  const fixed = secretNames.map(config.variableOf);
  const names = new Set([...fixed, ...listNamedSecrets(config.settings)]);
  return { settings, secrets: [...names].map((name) => describeSecret(environment, name, apiKeyEnv)) };
}

const limits = [
  'The threshold of the service decided at the time of the search which matches it returned and flagged as hits. A replay cannot show other matches; a lower threshold of the service needs new searches.',
  'Dispositions stay as they were made. A replay does not know how reviewers would have decided about other alerts.',
];

type Replay = Awaited<ReturnType<typeof replaySettings>>;

/** The result of `config replay`; `file` has the other settings. */
function presentReplay(replay: Replay, file: string): Outcome {
  const { evaluated, notEvaluated, changes, baseline, alerts, stored, examples } = replay;
  const cannot = [
    ...notEvaluated.map((words) => `Not evaluated, because stored answers do not show it: ${words}.`),
    ...limits,
  ];
  const sections = [
    formatTable([
      [
        'assessed',
        `${formatCount(replay.answers)} answers of ${countNoun(replay.parties, 'party', 'parties')}${replay.since === null ? ', all that are stored' : `, of runs since ${replay.since.toISOString()}`}; an answer equal to the previous one is not counted`,
      ],
      ['evaluated', evaluated.length === 0 ? `${file} changes nothing that can be evaluated` : evaluated.join('; ')],
      [
        'stored',
        `${countNoun(stored.changes, 'change')} and ${countNoun(stored.baseline, 'match of a first screening', 'matches of first screenings')}, each assessed under the settings of its night`,
      ],
    ]),
    formatTable([
      ['', 'in force', 'with the file', 'more', 'fewer', 'other severity'],
      ...listRows('changes', changes),
      ...listRows('first screenings', baseline),
      ['open alerts', alerts.present, alerts.other, alerts.onlyOther, alerts.onlyPresent, ''],
    ]),
    examples.length === 0 ? 'no event would differ\n' : formatTable(examples.map(toExampleRow)),
    cannot.map((sentence) => `${sentence}\n`).join(''),
    'nothing was changed, and no search was made\n',
  ];
  return toOutcome('nightscreen/replay/1', { settings: file, ...replay, limits }, sections.join('\n'));
}

/** The whole row, and those of its parts. */
function listRows(name: string, changes: Replay['changes']): Row[] {
  const { present, other, onlyOther, onlyPresent, otherSeverity, bySeverity, byKind } = changes;
  return [
    [name, present, other, onlyOther, onlyPresent, otherSeverity],
    ...bySeverity.map((part): Row => [`  ${part.severity}`, part.present, part.other, '', '', '']),
    ...byKind.map((part): Row => [`  ${part.kind}`, part.present, part.other, '', '', '']),
  ];
}

function toExampleRow({ runId, reference, listed, present, other }: Replay['examples'][number]): string[] {
  const describe = (event: typeof present): string =>
    event === null ? 'nothing' : `${event.severity} ${event.kind} (${event.rule})`;
  return [runId, reference, `${listed.name} ${listed.id}`, `${describe(present)} -> ${describe(other)}`];
}

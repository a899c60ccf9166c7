import { type Command, Option } from 'commander';
import type { Config } from '../config/load-config.js';
import { findNearMiss } from '../near-miss.js';
import type { OpenAppContext } from './app-context.js';
import type { Act, Invocation, Work } from './invocation.js';
import { loadInvocationConfig, requireService, runForEach, withAppContext } from './session.js';

/** An option of a command. Its name is its key among the options of the command: `maxSearches` is `--max-searches`. */
interface OptionSpec<Value, Given extends boolean = boolean> {
  /** The placeholder of the value, as in `<name>`; empty for an option without a value. */
  placeholder: string;
  meaning: string;
  /** Whether it has a value in any case: it is mandatory, or has a default. */
  isGiven: Given;
  /** Throws commander's InvalidArgumentError. */
  parse?: (text: string) => Value;
  choices?: readonly string[];
  initial?: Value;
  isNegated?: true;
  /** The keys of the options that exclude this one. */
  conflicts?: readonly string[];
}

/** An option without a value. */
export const flag = (meaning: string): OptionSpec<true, false> => ({ placeholder: '', meaning, isGiven: false });

/** An option with a text as its value. */
export const text = (placeholder: string, meaning: string): OptionSpec<string, false> => ({
  placeholder,
  meaning,
  isGiven: false,
});

/** An option whose value `parse` reads. */
export const parsed = <Value>(
  placeholder: string,
  meaning: string,
  parse: (text: string) => Value,
): OptionSpec<Value, false> => ({ placeholder, meaning, isGiven: false, parse });

/** An option with one of some words as its value. */
export const choice = <const Word extends string>(
  placeholder: string,
  meaning: string,
  choices: readonly Word[],
): OptionSpec<Word, false> => ({ placeholder, meaning, isGiven: false, choices });

/** An option with one value or more, of some words or of any; `placeholder` ends with dots, as in `<name...>`. */
export const variadic = <const Word extends string = string>(
  placeholder: string,
  meaning: string,
  choices?: readonly Word[],
): OptionSpec<readonly Word[], false> => ({ placeholder, meaning, isGiven: false, ...(choices && { choices }) });

/** An option without a value that is typed as `--no-...` and makes the value false. */
export const negated = (meaning: string): OptionSpec<boolean, true> => ({
  placeholder: '',
  meaning,
  isGiven: true,
  isNegated: true,
});

/** The same option, which must be typed. */
export const mandatory = <Value>(spec: OptionSpec<Value>): OptionSpec<Value, true> => ({ ...spec, isGiven: true });

/** The same option, with the value that it has when it is not typed. */
export const withDefault = <Value>(spec: OptionSpec<Value>, initial: Value): OptionSpec<Value, true> => ({
  ...spec,
  isGiven: true,
  initial,
});

type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;

type ValueOf<Spec> = Spec extends { isGiven: boolean } & OptionSpec<infer Value> ? Value : never;

export type OptionValues<Options extends OptionSpecs> = {
  [Key in keyof Options as Options[Key]['isGiven'] extends true ? Key : never]: ValueOf<Options[Key]>;
} & {
  [Key in keyof Options as Options[Key]['isGiven'] extends true ? never : Key]?: ValueOf<Options[Key]>;
};

/** The argument that a usage such as `show <id>` names. */
type ArgumentOf<Usage extends string> = Usage extends `${string}...${string}`
  ? readonly string[]
  : Usage extends `${string}<${string}`
    ? string
    : Usage extends `${string}[${string}`
      ? string | undefined
      : undefined;

interface CommandCall<Usage extends string, Options extends OptionSpecs> {
  argument: ArgumentOf<Usage>;
  options: OptionValues<Options>;
  invocation: Invocation;
  /** Aborted by the first SIGINT or SIGTERM. */
  signal: AbortSignal;
}

interface CommandSpec<Usage extends string, Options extends OptionSpecs> {
  /** The name and the argument, as in `show <id>`. */
  usage: Usage;
  description: string;
  options?: Options;
  examples: readonly [string, string];
  commands?: readonly AddCommand[];
  /** Whether it works for each of several organisations where none is named. */
  isForEach?: true;
  /** The task that is mailed as not run when the command fails before its database is open. */
  mailedAs?: (call: Pick<CommandCall<Usage, Options>, 'argument' | 'options'>) => string | undefined;
}

/** `summary` is what the help of the program says of it. */
export type AddCommand = (parent: Command, act: Act, summary?: string) => void;

/** A command that opens no database; without `run` it only groups the commands below it. */
export function defineCommand<const Usage extends string, Options extends OptionSpecs = Record<never, never>>(
  spec: CommandSpec<Usage, Options> & {
    run?: (call: CommandCall<Usage, Options>, command: Command) => ReturnType<Work>;
  },
): AddCommand {
  const { usage, description, options, examples, commands = [], isForEach = false, mailedAs, run } = spec;
  return (parent, act, summary = '') => {
    const command = parent.command(usage).description(description).summary(summary);
    for (const [key, option] of Object.entries(options ?? {})) command.addOption(toOption(key, option));
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ nightscreen ${line}\n`).join('')}`);
    for (const add of commands) add(command, act);
    if (run === undefined) return;
    // Options that a command shares with one below it belong to the latter when they follow its name.
    if (commands.length > 0) command.enablePositionalOptions().allowExcessArguments().allowUnknownOption();
    command.action(() => {
      if (commands.length > 0) refuseUnknown(command);
      const call = { argument: command.processedArgs[0], options: command.opts<OptionValues<Options>>() };
      const work: Work = (invocation) => run({ ...call, invocation, signal: invocation.signal }, command);
      act(isForEach ? (invocation) => runForEach(invocation, work) : work, mailedAs?.(call));
    });
  };
}

/** What a command needs besides the database. */
interface Needs {
  /** The service with a key: its settings are required before the database is opened. */
  service?: boolean;
  /** A folder for reports that can be written. */
  reports?: boolean;
  /** Whether it creates a missing database; otherwise it needs the data of earlier runs. */
  createsDatabase?: boolean;
  /** Whether it may work for hours. */
  isLasting?: boolean;
  queryTimeoutMs?: number;
}

/** A call with the configuration, before the database is opened. */
interface ConfiguredCall<Usage extends string, Options extends OptionSpecs> extends CommandCall<Usage, Options> {
  config: Config;
}

interface DatabaseCommandSpec<Usage extends string, Options extends OptionSpecs> extends CommandSpec<Usage, Options> {
  needs?: Needs | ((options: OptionValues<Options>) => Needs);
}

/** A command that works in the database with the result of `prepare`, which checks the input before. */
export const definePreparedCommand = <
  const Usage extends string,
  Prepared,
  Options extends OptionSpecs = Record<never, never>,
>(
  spec: DatabaseCommandSpec<Usage, Options> & {
    prepare: (call: ConfiguredCall<Usage, Options>) => Prepared | Promise<Prepared>;
    run: (
      app: OpenAppContext,
      call: ConfiguredCall<Usage, Options> & { prepared: Awaited<Prepared> },
    ) => ReturnType<Work>;
  },
): AddCommand =>
  defineCommand<Usage, Options>({
    ...spec,
    run: async (given) => {
      const { invocation, options } = given;
      const config = loadInvocationConfig(invocation);
      const call = { ...given, config };
      const needs = typeof spec.needs === 'function' ? spec.needs(options) : (spec.needs ?? {});
      const { service = false, reports = false, createsDatabase = false, ...limits } = needs;
      const prepare = async () => spec.prepare(call);
      const prepared = service ? await requireService(config, prepare, { writesReport: reports }) : await prepare();
      return withAppContext(invocation, { ...limits, config, needsDatabase: !createsDatabase }, (app) =>
        spec.run(app, { ...call, prepared }),
      );
    },
  });

/** A command that works in the database, and has no input to check before. */
export const defineDatabaseCommand = <const Usage extends string, Options extends OptionSpecs = Record<never, never>>(
  spec: DatabaseCommandSpec<Usage, Options> & {
    run: (app: OpenAppContext, call: ConfiguredCall<Usage, Options>) => ReturnType<Work>;
  },
): AddCommand => definePreparedCommand<Usage, undefined, Options>({ ...spec, prepare: () => undefined });

function toOption(key: string, spec: OptionSpec<unknown>): Option {
  const { placeholder, meaning, isGiven, parse, choices, initial, isNegated, conflicts } = spec;
  const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const option = new Option(`--${isNegated ? 'no-' : ''}${name} ${placeholder}`.trim(), meaning);
  if (choices) option.choices(choices);
  if (parse) option.argParser(parse);
  if (initial !== undefined) option.default(initial);
  if (conflicts) option.conflicts([...conflicts]);
  return option.makeOptionMandatory(isGiven && initial === undefined && !isNegated);
}

/** Refuses the first word that is neither a command below this one nor an option of it. */
function refuseUnknown(command: Command): void {
  const [word] = command.args;
  if (word === undefined) return;
  const isOption = word.startsWith('-');
  const known = isOption
    ? command.options.map(({ long, flags }) => long ?? flags)
    : command.commands.map((each) => each.name());
  const meant = findNearMiss(word, known);
  const advice = meant === null ? '' : `\n(Did you mean ${meant}?)`;
  command.error(`error: unknown ${isOption ? 'option' : 'command'} '${word}'${advice}`);
}

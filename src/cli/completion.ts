import type { Command, Option } from 'commander';

/** A command of the tree as shells complete it. */
interface Node {
  /** The words after the program, as in `review export`; empty for the program. */
  path: string;
  /** Words that may follow: commands, or the values of an argument. */
  commands: readonly { name: string; summary: string }[];
  options: readonly OptionFacts[];
  /** Whether it has an argument that names a file. */
  takesFile: boolean;
}

interface OptionFacts {
  name: string;
  meaning: string;
  value: 'none' | 'file' | 'text' | readonly string[];
}

const isFileName = (name: string): boolean => /^<?(?:file|dir|path|list)\b/.test(name);

const toFacts = (option: Option): OptionFacts => ({
  name: option.long ?? option.flags,
  meaning: option.description,
  value:
    option.argChoices ??
    (!option.required && !option.optional ? 'none' : isFileName(option.flags.split(' ')[1] ?? '') ? 'file' : 'text'),
});

function listNodes(command: Command, path: string): Node[] {
  const inner = command.createHelp().visibleCommands(command);
  const node: Node = {
    path,
    commands: [
      ...inner.map((each) => ({ name: each.name(), summary: each.summary() || each.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((name) => ({ name, summary: description })),
      ),
    ],
    options: command.options.filter((option) => !option.hidden).map(toFacts),
    takesFile: command.registeredArguments.some((argument) => isFileName(argument.name())),
  };
  return [node, ...inner.flatMap((each) => listNodes(each, `${path} ${each.name()}`.trim()))];
}

/** The completion script of a program for a shell: its commands, their options, and the values and files that options take. */
export function renderCompletion(shell: 'bash' | 'zsh', program: Command): string {
  const nodes = listNodes(program, '');
  const [root] = nodes;
  const options = [...new Map(nodes.flatMap((node) => node.options).map((option) => [option.name, option])).values()];
  const tree = { nodes, global: root?.options ?? [], options };
  return shell === 'bash' ? renderBash(tree) : renderZsh(tree);
}

interface Tree {
  nodes: readonly Node[];
  global: readonly OptionFacts[];
  /** Every option once: a name has one meaning. */
  options: readonly OptionFacts[];
}

const listNames = (options: readonly OptionFacts[]): string => options.map(({ name }) => name).join(' ');

/** A case of a shell for the options of one kind; none for no options. */
const toCase = (options: readonly OptionFacts[], action: string, [open, end] = ['', ';;']): string =>
  options.length === 0 ? '' : `    ${open}${options.map(({ name }) => name).join('|')}) ${action} ${end}\n`;

/** The words of a case: how the path of commands grows by a word. */
const toSteps = (nodes: readonly Node[], variable: string, open: string): string =>
  nodes
    .flatMap(({ path, commands }) => commands.map(({ name }) => ({ from: path, to: `${path} ${name}`.trim(), name })))
    .map(({ from, to, name }) => `      ${open}'${from}|${name}') ${variable}='${to}' ;;\n`)
    .join('');

const withChoices = (options: readonly OptionFacts[]): { option: OptionFacts; choices: readonly string[] }[] =>
  options.flatMap((option) => (typeof option.value === 'string' ? [] : [{ option, choices: option.value }]));

function renderBash({ nodes, global, options }: Tree): string {
  const cases = nodes.map(
    ({ path, commands, options: own, takesFile }) =>
      `    '${path}') commands='${commands.map(({ name }) => name).join(' ')}' options='${listNames(own)}' files='${takesFile ? 'yes' : ''}' ;;\n`,
  );
  const choices = withChoices(options).map(({ option, choices: words }) =>
    toCase([option], `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$current")); return`),
  );
  return `# bash completion of nightscreen: source this file.
_nightscreen() {
  local IFS=$' \\t\\n' current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  local place='' commands='' options='' files='' at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
  ${toCase(
    options.filter(({ value }) => value !== 'none'),
    'at=$((at + 1)); continue',
  ).trimStart()}    esac
    case "$place|\${COMP_WORDS[at]}" in
${toSteps(nodes, 'place', '')}    esac
  done
  case $before in
${toCase(
  options.filter(({ value }) => value === 'file'),
  "files=yes commands='' options='' place='?'",
)}${choices.join('')}${toCase(
  options.filter(({ value }) => value === 'text'),
  'return',
)}  esac
  case $place in
${cases.join('')}  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options ${listNames(global)} --help" -- "$current"))
    return
  fi
  COMPREPLY=($(compgen -W "$commands" -- "$current"))
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -F _nightscreen nightscreen
`;
}

/** Text within single quotes; zsh reads what is before a colon as the word. */
const quoteForZsh = (word: string, meaning: string): string =>
  `'${`${word}:${meaning.replaceAll(':', '\\:')}`.replaceAll("'", "'\\''")}'`;

function renderZsh({ nodes, global, options }: Tree): string {
  const cases = nodes.map(
    ({ path, commands, options: own, takesFile }) =>
      `    ('${path}') commands=(${commands.map(({ name, summary }) => quoteForZsh(name, summary)).join(' ')})
      options=(${own.map(({ name, meaning }) => quoteForZsh(name, meaning)).join(' ')}) files='${takesFile ? 'yes' : ''}' ;;\n`,
  );
  const choices = withChoices(options).map(({ option, choices: words }) =>
    toCase([option], `compadd -- ${words.join(' ')}; return`, ['(', ';;']),
  );
  return `#compdef nightscreen
# zsh completion of nightscreen: save it as _nightscreen in a folder of fpath, or source it after compinit.
_nightscreen() {
  local place='' files='' at
  local -a commands options
  for ((at = 2; at < CURRENT; at++)); do
    case $words[at] in
${toCase(
  options.filter(({ value }) => value !== 'none'),
  '(( at++ )); continue',
  ['(', ';;'],
)}    esac
    case "$place|$words[at]" in
${toSteps(nodes, 'place', '(')}    esac
  done
  case $words[CURRENT-1] in
${toCase(
  options.filter(({ value }) => value === 'file'),
  '_files; return',
  ['(', ';;'],
)}${choices.join('')}${toCase(
  options.filter(({ value }) => value === 'text'),
  'return 1',
  ['(', ';;'],
)}  esac
  case $place in
${cases.join('')}  esac
  if [[ $words[CURRENT] == -* ]]; then
    options+=(${[...global.map(({ name, meaning }) => quoteForZsh(name, meaning)), "'--help:show help'"].join(' ')})
    _describe -o option options
    return
  fi
  (( $#commands )) && _describe command commands
  [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _nightscreen ]]; then _nightscreen "$@"; else compdef _nightscreen nightscreen; fi
`;
}

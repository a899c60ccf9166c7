import type { Command, Option } from 'commander';

/** A command of the tree as shells complete it. */
interface Node {
  /** The words after the program, as in `review export`; empty for the program. */
  path: string;
  commands: readonly string[];
  options: readonly OptionFacts[];
  /** Whether it has an argument that names a file. */
  takesFile: boolean;
}

interface OptionFacts {
  name: string;
  value: 'none' | 'file' | 'text' | readonly string[];
}

const isFileName = (name: string): boolean => /^<?(?:file|dir|path|list)\b/.test(name);

const toFacts = (option: Option): OptionFacts => ({
  name: option.long ?? option.flags,
  value:
    option.argChoices ??
    (!option.required && !option.optional ? 'none' : isFileName(option.flags.split(' ')[1] ?? '') ? 'file' : 'text'),
});

function listNodes(command: Command, path: string): Node[] {
  const inner = command.createHelp().visibleCommands(command);
  const node: Node = {
    path,
    commands: inner.map((each) => each.name()),
    options: command.options.map(toFacts),
    takesFile: command.registeredArguments.some((argument) => isFileName(argument.name())),
  };
  return [node, ...inner.flatMap((each) => listNodes(each, `${path} ${each.name()}`.trim()))];
}

const listNames = (options: readonly OptionFacts[]): string => options.map(({ name }) => name).join(' ');

/** A case of the options of one kind; none for no options. */
const toCase = (options: readonly OptionFacts[], action: string): string =>
  options.length === 0 ? '' : `    ${options.map(({ name }) => name).join('|')}) ${action} ;;\n`;

/** A case for each command that follows a path: the path grows by its name. */
const toSteps = (nodes: readonly Node[]): string =>
  nodes
    .flatMap(({ path, commands }) => commands.map((name) => ({ from: path, to: `${path} ${name}`.trim(), name })))
    .map(({ from, to, name }) => `      '${from}|${name}') place='${to}' ;;\n`)
    .join('');

/** The completion script for bash and zsh: commands, their options, and the values and files that options take. */
export function renderCompletion(program: Command): string {
  const nodes = listNodes(program, '');
  // Every option once: a name has one meaning.
  const options = [...new Map(nodes.flatMap((node) => node.options).map((option) => [option.name, option])).values()];
  const withFile = options.filter(({ value }) => value === 'file');
  const withText = options.filter(({ value }) => value === 'text');
  const places = nodes.map(({ path, commands, options: own, takesFile }) => {
    const files = takesFile ? 'yes' : '';
    return `    '${path}') commands='${commands.join(' ')}' options='${listNames(own)}' files='${files}' ;;\n`;
  });
  const choices = options.map((option) => {
    const words = typeof option.value === 'string' ? [] : option.value;
    const offer = `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$current")); return`;
    return words.length === 0 ? '' : toCase([option], offer);
  });
  const withValue = options.filter(({ value }) => value !== 'none');
  return `# Completion for bash and zsh: source this file, in zsh after compinit.
if [[ -n \${ZSH_VERSION-} ]]; then autoload -U +X bashcompinit && bashcompinit; fi
_nightscreen() {
  local IFS=$' \\t\\n' current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  local place='' commands='' options='' files='' at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
  ${toCase(withValue, 'at=$((at + 1)); continue').trimStart()}    esac
    case "$place|\${COMP_WORDS[at]}" in
${toSteps(nodes)}    esac
  done
  case $before in
${toCase(withFile, "files=yes commands='' options='' place='?'")}${choices.join('')}${toCase(withText, 'return')}  esac
  case $place in
${places.join('')}  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options ${listNames(nodes[0]?.options ?? [])} --help" -- "$current"))
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

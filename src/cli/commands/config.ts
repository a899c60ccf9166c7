import type { Command } from 'commander';
import { describeConfig } from '../../config/describe-config.js';
import { examples } from '../examples.js';
import { exitCodes } from '../exit-code.js';
import { formatTable } from '../format-table.js';
import type { Act } from '../invocation.js';
import { loadInvocationConfig } from '../session.js';

/** Adds `config show`. */
export function addConfigCommand(program: Command, act: Act): void {
  const config = program.command('config').description('the settings in force and where each comes from');
  config.addHelpText('after', examples(['config show', 'config show --json']));
  config
    .command('show')
    .description('print every setting with its origin; of secrets only whether they are set')
    .addHelpText('after', examples(['config show', 'config show --json', 'config show --config ./test.yaml']))
    .action(() =>
      act(async (invocation) => {
        const loaded = loadInvocationConfig(invocation);
        const { settings, secrets } = describeConfig(loaded);
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

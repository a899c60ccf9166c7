import type { Command } from 'commander';
import { overlaySettings } from '../../config/overlay-settings.js';
import { examples } from '../examples.js';
import type { Act } from '../invocation.js';
import { parseInstant } from '../parse-instant.js';
import { presentReplay } from '../present-replay.js';
import { withWorkplace } from '../session.js';

/** Adds `replay`. */
export function addReplayCommand(program: Command, act: Act): void {
  program
    .command('replay')
    .description(
      'judge stored answers once more under other settings, and count what would be otherwise; changes nothing',
    )
    .requiredOption(
      '--settings <file>',
      'a configuration, or the part of one that is otherwise, laid over the one in force',
    )
    .option('--since <day>', 'count runs begun since then (default: all that are kept)', parseInstant)
    .addHelpText(
      'after',
      examples(['replay --settings stricter.yaml', 'replay --settings stricter.yaml --since 2026-03-01']),
    )
    .action((options: { settings: string; since?: Date }) =>
      act(async (invocation) => {
        const { replaySettings } = await import('../../runs/replay.js');
        return withWorkplace(invocation, {
          command: 'replay',
          needsDatabase: true,
          isLasting: true,
          prepare: ({ settings }) => overlaySettings(settings, invocation.folder, options.settings),
          work: async (workplace, other) =>
            presentReplay(await replaySettings(workplace, other, options.since ?? null), options.settings),
        });
      }),
    );
}

import { Command, Option } from 'commander';
import { logLevels } from '../config/schema.js';
import { addAssureCommand } from './commands/assure.js';
import { addBackupCommand, addRestoreCommand } from './commands/backup.js';
import { addCheckCommand } from './commands/check.js';
import { addConfigCommand } from './commands/config.js';
import { addCoverageCommand } from './commands/coverage.js';
import { addDemoCommand } from './commands/demo.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addImportCommand } from './commands/import.js';
import { addInviteCommand } from './commands/invite.js';
import { addListenCommand } from './commands/listen.js';
import { addMailCommand } from './commands/mail.js';
import { addMigrateCommand } from './commands/migrate.js';
import { addOnboardCommand } from './commands/onboard.js';
import { addReconcileCommand } from './commands/reconcile.js';
import { addReplayCommand } from './commands/replay.js';
import { addReportCommand } from './commands/report.js';
import { addRescreenCommand } from './commands/rescreen.js';
import { addReviewCommand } from './commands/review.js';
import { addRosterCommand } from './commands/roster.js';
import { addRunsCommand } from './commands/runs.js';
import { addSandboxCommand } from './commands/sandbox.js';
import { addScheduleCommand } from './commands/schedule.js';
import { addScreenCommand } from './commands/screen.js';
import { addStatusCommand } from './commands/status.js';
import { addSweepCommand } from './commands/sweep.js';
import { addWatchdogCommand } from './commands/watchdog.js';
import { examples } from './examples.js';
import type { Act } from './invocation.js';
import { version } from './version.js';

const daily = 'Daily commands:';
const more = 'More:';

const exitCodeHelp = `
Exit codes: 0 complete, 1 unexpected, 2 refused before anything was spent, 3 finished but not all is well, 4 stopped early and resumable
`;

/** Where usage errors and help texts are written. */
export interface ProgramOutput {
  writeOut: (text: string) => void;
  writeErr: (text: string) => void;
}

/** The command line as commander sees it; `act` carries out the command that was called, usage errors are thrown. */
export function createProgram(act: Act, output: ProgramOutput): Command {
  const program = new Command('nightscreen')
    .description('Screens customer rosters night after night and reports exactly what changed.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--config <file>', 'configuration file (default: ./nightscreen.config.yaml when there is one)')
    .option('--json', 'print one JSON document on standard output')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(logLevels))
    .exitOverride()
    .configureOutput(output)
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', examples(['demo', 'onboard --file customers.csv', 'rescreen --json']) + exitCodeHelp);

  program.commandsGroup(daily);
  addDemoCommand(program, act);
  addOnboardCommand(program, act);
  addRescreenCommand(program, act);
  addSweepCommand(program, act);
  addReportCommand(program, act);
  program.commandsGroup(more);
  addReviewCommand(program, act);
  addReconcileCommand(program, act);
  addInviteCommand(program, act);
  addRosterCommand(program, act);
  addImportCommand(program, act);
  addScreenCommand(program, act);
  addCheckCommand(program, act);
  addAssureCommand(program, act);
  addRunsCommand(program, act);
  addMailCommand(program, act);
  addCoverageCommand(program, act);
  addStatusCommand(program, act);
  addScheduleCommand(program, act);
  addListenCommand(program, act);
  addWatchdogCommand(program, act);
  addDoctorCommand(program, act);
  addReplayCommand(program, act);
  addConfigCommand(program, act);
  addMigrateCommand(program, act);
  addBackupCommand(program, act);
  addRestoreCommand(program, act);
  addSandboxCommand(program, act);
  program.helpCommand('help [command]', 'show help for a command');
  return program;
}

import type { Config } from '../../config/load-config.js';
import { findFourEyesProblems } from '../workplace.js';
import { type Finding, wrong } from './finding.js';

/** Whether two people can be asked for where the settings want them, without which every command is refused; nothing is said when all is well. */
export function checkReview(config: Config): Finding[] {
  return findFourEyesProblems(config).map(({ path, message }) =>
    wrong('review', `${path} ${message}`, 'until then every command that opens the database is refused'),
  );
}

import { ConfigError, type ConfigProblem } from '../../errors.js';
import type { ScreeningRequest } from '../../roster/screening-request.js';
import { toScreeningRequest } from '../../roster/screening-request.js';

/** Whom to ask about, why, and who asks. */
export interface Question extends ScreeningRequest {
  reason: string;
  /** The person at the keyboard, as the machine knows them. */
  askedBy: string;
}

const maxNameLength = 500;
const maxReasonLength = 2_000;

/** What is sent for a question; throws ConfigError with everything that is wrong with it. */
export function toCheckedRequest({ type, name, reason }: Question): ScreeningRequest {
  const problems: ConfigProblem[] = [];
  const refuse = (where: string, message: string): void => {
    problems.push({ where, path: '', message });
  };
  if (!/[\p{L}\p{N}]/u.test(name)) refuse('name', 'has no letter or digit');
  if ([...name].length > maxNameLength) refuse('name', `is longer than ${maxNameLength} characters`);
  if (/[\p{Cc}\ufffd]/u.test(name)) refuse('name', 'holds a control character or a damaged one (U+FFFD)');
  if (reason.trim() === '')
    refuse('flag --reason', 'is empty: say why this name is asked about; it is kept as evidence');
  if (reason.length > maxReasonLength) refuse('flag --reason', `is longer than ${maxReasonLength} characters`);
  if (problems.length > 0) throw new ConfigError(problems);
  return toScreeningRequest({ role: 'customer', type, name, birthDate: null, countries: [] });
}

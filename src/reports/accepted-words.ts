import type {
  AcceptedFacts,
  CustomerRecordFacts,
  RosterAcceptanceFacts,
  SettingsChangeFacts,
} from './accepted-facts.js';
import { formatTime } from './format-time.js';

/** Who accepted something, when and why: `by A. Meyer (attested) on ..: reason`. */
export function describeAcceptance({
  acceptedBy,
  isAttested,
  acceptedAt,
  reason,
}: Omit<SettingsChangeFacts, 'differences'>): string {
  return `accepted by ${acceptedBy}${isAttested ? ' (attested)' : ''} on ${formatTime(acceptedAt)}: ${reason}`;
}

/** What was accepted since the roster's last report, one line each: what is otherwise, and by whom. */
export function describeSettingsChanges({
  settingsChanges,
}: Pick<AcceptedFacts, 'settingsChanges'>): readonly string[] {
  return settingsChanges.map(
    (change) =>
      `Settings changed since the last report: ${change.differences.join('; ')} (${describeAcceptance(change)})`,
  );
}

/** Whoever took the roster against its guards, one line each with what the guards found. */
export const describeRosterAcceptance = (acceptance: RosterAcceptanceFacts): string =>
  `The roster was taken although guards would have held it, ${describeAcceptance(acceptance)}. They found: ${acceptance.heldBy
    .map(({ guard, message }) => `${message} [guard ${guard}]`)
    .join('; ')}`;

/** What was known of a customer, on one line. */
export const describeRecord = ({ name, type, birthDate, countries, parties }: CustomerRecordFacts): string =>
  [name, type, birthDate ?? 'no birth date', countries.join(';'), ...parties].filter((fact) => fact !== '').join(', ');

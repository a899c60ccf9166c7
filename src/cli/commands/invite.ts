import { type Command, Option } from 'commander';
import { countNoun, formatCount } from '../../reports/text.js';
import type { InvitingResult } from '../../runs/invitations/invite.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import { examples, parseWholeNumber } from '../options.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';
import { formatTable, type Row } from '../text.js';

interface InviteOptions {
  roster?: string;
  limit?: number;
  remind?: boolean;
  send?: boolean;
}

/** Adds `invite`. */
export function addInviteCommand(program: Command, act: Act): void {
  program
    .command('invite')
    .description('invite customers without a dossier to verify themselves; without --send only print who and the cost')
    .addOption(
      new Option('--kind <kind>', 'the discrepancy of the customers to invite')
        .choices(['customer_without_dossier'])
        .makeOptionMandatory(),
    )
    .option('--roster <name>', 'only customers of this roster')
    .option('--limit <count>', 'at most this many', parseWholeNumber(1, 1_000_000))
    .option('--remind', 'send invitations again that were sent a week ago and not opened')
    .option('--send', 'send; billed by the service')
    .addHelpText(
      'after',
      examples(
        ['', ' --limit 100 --send', ' --remind --send'].map((rest) => `invite --kind customer_without_dossier${rest}`),
      ),
    )
    .action(({ remind = false, send = false, ...choice }: InviteOptions) =>
      act(async (invocation) => {
        const { inviteCustomers } = await import('../../runs/invitations/invite.js');
        const options = { ...choice, isSent: send, isReminder: remind };
        const config = loadInvocationConfig(invocation);
        if (send) requireService(config, () => {});
        return withAppContext(invocation, { config, isLasting: send, needsDatabase: true }, async (app) =>
          presentInviting(await inviteCustomers(app, options, invocation.signal)),
        );
      }),
    );
}

const mostShown = 50;

const outcomeWords = {
  sent: 'sent',
  found: 'sent before, found at the service',
  unknown: 'may have been sent: run the same command again in five minutes',
  refused: 'refused by the service',
} as const;

/** The result of `invite`; the reasons why customers are not invited stay private. */
function presentInviting(result: InvitingResult): Outcome {
  const { isSent, isReminder, isTest, customers, cost, stoppedBecause } = result;
  const count = (channel: 'email' | 'sms'): number => customers.filter((one) => one.channel === channel).length;
  const what = isReminder ? 'reminded' : 'invited';
  const done = (Object.keys(outcomeWords) as (keyof typeof outcomeWords)[]).map((outcome): Row => {
    const number = customers.filter((one) => one.outcome === outcome).length;
    return number > 0 && [outcome, `${formatCount(number)}${outcome === 'sent' ? '' : `; ${outcomeWords[outcome]}`}`];
  });
  const paid =
    cost === null
      ? 'unknown: set budget.pricePerEmail and budget.pricePerSms'
      : `${cost.amount.toFixed(2)} ${cost.currency}`;
  const shown = customers.slice(0, mostShown);
  const rest = customers.length - shown.length;
  const lines: Row[] = [
    ['invite', isSent ? 'sent' : 'dry run, nothing was sent; --send sends'],
    [
      'customers',
      isSent
        ? countNoun(customers.length, 'customer')
        : `${countNoun(customers.length, 'customer')} would be ${what}: ${formatCount(count('email'))} by e-mail, ${formatCount(count('sms'))} by SMS`,
    ],
    ...done,
    ['cost', `${paid}${isTest ? '; a test key is not billed' : ''}`],
    !isReminder && ['invited before', formatCount(result.alreadyInvited)],
    !isReminder && [
      'not invitable',
      `${formatCount(result.notInvitable)} without a usable recipient or channel in the roster`,
    ],
    ['not now', formatCount(result.notNow)],
    stoppedBecause !== null && ['stopped', stoppedBecause],
  ];
  const isPartial = customers.some(({ outcome }) => outcome === 'unknown' || outcome === 'refused');
  return {
    exitCode: stoppedBecause !== null ? exitCodes.stopped : isPartial ? exitCodes.incomplete : exitCodes.complete,
    document: { schema: 'nightscreen/invitations/1', ...result },
    text: `${formatTable(lines)}${shown.length === 0 ? '' : '\n'}${formatTable(
      shown.map(({ roster, customer, channel, outcome }) => [
        roster,
        customer,
        'customer without a dossier',
        channel,
        outcome ?? '',
      ]),
    )}${rest > 0 ? `and ${formatCount(rest)} more: --json lists all\n` : ''}`,
  };
}

import { html } from 'hono/html';
import { z } from 'zod';
import { severities } from '../changes/change-event.js';
import { countNoun, formatCount } from './format-count.js';
import { type Markup, nothing, section, showParty, showText, showTime } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { Report } from './report.js';
import type { HeldAlertFacts, HeldFacts } from './run-facts.js';

import { stateOrder, stateWords } from './state-words.js';
import { describeTopic } from './topic-words.js';

const count = z.number().int().nonnegative();

/** What of `report.json` tells what is held. */
export const heldJsonSchema = z.array(
  z.strictObject({
    kind: z.enum(['answers', 'webhooks']),
    reasons: z.array(z.string()),
    customers: count,
    states: z.array(z.strictObject({ code: z.enum(stateOrder), count })),
    openedAlerts: count,
    alerts: z.array(
      z.strictObject({
        alertId: count,
        reference: z.string(),
        name: z.string(),
        severity: z.enum(severities),
        listedName: z.string(),
        topics: z.array(z.string()),
      }),
    ),
    accepted: z
      .strictObject({ by: z.string(), isAttested: z.boolean(), reason: z.string(), at: z.iso.datetime() })
      .nullable(),
  }),
);

/** What is held as `report.json` has it. */
export const toHeldJson = (held: readonly HeldFacts[]): z.infer<typeof heldJsonSchema> =>
  held.map(({ kind, reasons, customers, states, openedAlerts, alerts, accepted }) => ({
    kind,
    reasons: [...reasons],
    customers,
    states: stateOrder.flatMap((code) => (states[code] === undefined ? [] : [{ code, count: states[code] }])),
    openedAlerts,
    alerts: alerts.map(({ alertId, party, severity, listedName, topics }) => ({
      ...{ alertId, reference: party.reference, name: party.name, severity, listedName, topics: [...topics] },
    })),
    accepted: accepted && { ...accepted, at: accepted.at.toISOString() },
  }));

const alertColumns: readonly TableColumn<HeldAlertFacts>[] = [
  { title: 'Customer', cell: ({ party }) => showParty(party) },
  { title: 'Severity', cell: ({ severity }) => severity },
  { title: 'Listed party', cell: ({ listedName }) => showText(listedName) },
  { title: 'Topics', cell: ({ topics }) => showText(topics.map(describeTopic).join(', ')) },
  { title: 'Alert', cell: ({ alertId }) => String(alertId) },
];

/** What of the run is held: why, the states meanwhile, and what was opened all the same. Nothing for a run that counts. */
export function showHeld({ held, run }: Report): Markup {
  if (held.length === 0) return nothing;
  return section('held', 'Held', html`${held.map((one) => showOne(one, run.runId))}`);
}

function showOne(
  { kind, reasons, customers, states, alerts, openedAlerts, accepted }: HeldFacts,
  runId: string,
): Markup {
  const what =
    kind === 'answers'
      ? `The answers of this run for ${countNoun(customers, 'customer')} are held: no state improves, and nothing that releases a customer is sent.`
      : 'What webhooks would be sent of this run waits. States and alerts are as this report shows them.';
  const known = stateOrder.flatMap((code) => {
    const customers = states[code] ?? 0;
    return customers === 0 ? [] : [`${formatCount(customers)} ${stateWords[code].name.toLowerCase()}`];
  });
  return html`<p><strong>${accepted === null ? what : `Held at first, and accepted by ${accepted.by} since.`}</strong></p>
<ul>${reasons.map((reason) => html`<li>${showText(reason)}</li>`)}</ul>
${
  accepted === null
    ? html`<p>To accept it: <code>nightscreen runs accept ${runId} --by NAME --reason TEXT</code></p>
`
    : html`<p>${showText(accepted.by)}${accepted.isAttested ? ' (attested)' : ''}, ${showTime(accepted.at)}: ${showText(accepted.reason)}</p>
`
}${
  known.length === 0
    ? nothing
    : html`<p>States of the roster's customers when it was held, each by its last answer that counts and its alerts: ${known.join(', ')}.</p>
`
}${
  openedAlerts === 0
    ? nothing
    : showTable(
        `${countNoun(openedAlerts, 'alert')} new or worse by these answers: provisional, and waiting all the same`,
        alertColumns,
        alerts,
        'report.xlsx',
        { count: openedAlerts },
      )
}`;
}

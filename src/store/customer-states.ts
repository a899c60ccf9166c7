/** SQL for the states of a customer, best first (DESIGN: The one rule): of several parties' the one that stands last counts. */
export const customerStatesSql = `array[
  'clear', 'below_threshold', 'settled_false_positive', 'incompletely_seen', 'not_screened', 'open_hit', 'confirmed'
]`;

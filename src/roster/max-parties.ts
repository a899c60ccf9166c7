/** The most parties of one customer, aliases and related parties included: each is a search of its own, and all are asked about together. */
export const maxParties = 10_000;

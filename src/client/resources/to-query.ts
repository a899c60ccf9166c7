/** The query of a list; what is undefined is left out. */
export const toQuery = (parameters: Readonly<Record<string, string | number | undefined>>): URLSearchParams => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
};

/** Gathers the parameters of a statement that is put together from parts. */
export interface Bindings {
  /** Takes a value; gives the placeholder that stands for it, typed as `type`. */
  bind(value: unknown, type: string): string;
  readonly values: readonly unknown[];
}

/** Begins with no parameters. */
export function openBindings(): Bindings {
  const values: unknown[] = [];
  return {
    values,
    bind: (value, type) => {
      values.push(value);
      return `$${values.length}::${type}`;
    },
  };
}
